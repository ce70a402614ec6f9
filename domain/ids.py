"""Identifiers, one type each, so that a post is never looked up by a claim's number."""

from typing import NewType

FactCheckId = NewType("FactCheckId", int)
PostId = NewType("PostId", int)
WatchId = NewType("WatchId", int)
SubscriptionId = NewType("SubscriptionId", int)
DigestId = NewType("DigestId", int)
