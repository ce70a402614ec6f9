"""Puts near-duplicate posts of all platforms into clusters, each named by its first post."""

from collections.abc import Sequence

import psycopg

from daemon.store import posts
from domain.ids import PostId


def cluster_posts(conn: psycopg.Connection, ids: Sequence[PostId]) -> None:
    """Give each post the cluster of the oldest one that it is a copy of, or begin one; without words it gets none."""
    from models.retrieval.near_duplicates import bands_of, is_copy

    found = [(post, text, bands) for post, text in posts.unclustered(conn, ids) if (bands := bands_of(text))]
    if found:
        posts.lock_clusters(conn)
    for post, text, bands in found:
        heads = posts.cluster_heads(conn, bands)
        head = next((first for first, other in heads if is_copy(text, other)), None)
        if head is None:
            posts.begin_cluster(conn, post, bands)
        else:
            posts.join_cluster(conn, post, head)
