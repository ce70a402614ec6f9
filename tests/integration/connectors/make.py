"""Connectors set up against their replay servers."""

from connectors.bluesky import connector as bluesky
from connectors.elasticsearch import connector as elasticsearch
from connectors.mastodon import connector as mastodon
from connectors.protocol import Connector, ConnectorContext
from connectors.reddit import connector as reddit
from connectors.x import connector as x

SECRET = "s3cret-that-nobody-may-read"


def make_x(url: str, context: ConnectorContext, **options: str) -> Connector:
    return x.build({"bearer_token": SECRET, "base_url": url, **options}, context)


def make_reddit(url: str, context: ConnectorContext, **options: str) -> Connector:
    given = {"client_id": "desk", "client_secret": SECRET, "oauth_url": url, "reddit_url": url}
    return reddit.build(given | options, context)


def make_bluesky(url: str, context: ConnectorContext, **options: str) -> Connector:
    given = {"identifier": "desk.example", "app_password": SECRET, "base_url": url}
    return bluesky.build(given | options, context)


def make_mastodon(url: str, context: ConnectorContext, **options: str) -> Connector:
    return mastodon.build({"base_url": url, "access_token": SECRET, **options}, context)


def make_elasticsearch(url: str, context: ConnectorContext, **options: str) -> Connector:
    return elasticsearch.build({"url": url, "api_key": SECRET, "page_size": "40", **options}, context)
