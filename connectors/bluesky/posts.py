"""A Bluesky post record as a Post: full links from its facets and cards, texts of its pictures."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from connectors.records import count, moment, pseudonym
from domain.post import Post, Reach
from domain.text import normalise

_PLATFORM = "bluesky"


def post_of_view(view: Mapping[str, Any], salt: str) -> Post:
    """From what search gives (app.bsky.feed.defs#postView). Its moment is when it was indexed: the other is the
    author's word. Raises what reading odd data raises."""
    author = str(view["author"]["did"])
    reach = Reach(*(count(view.get(name)) for name in ("likeCount", "repostCount", "replyCount")))
    return _post(str(view["uri"]), author, view["record"], moment(view["indexedAt"]), salt, reach)


def post_of_record(did: str, key: str, record: Mapping[str, Any], indexed_at: datetime, salt: str) -> Post:
    """From a record of the stream."""
    return _post(f"at://{did}/app.bsky.feed.post/{key}", did, record, indexed_at, salt, Reach())


def _post(uri: str, did: str, record: Mapping[str, Any], indexed: datetime, salt: str, reach: Reach) -> Post:
    pictures = [f"[picture: {alt}]" for alt in _alt_texts(record.get("embed"))]
    languages = record.get("langs") or ["und"]
    return Post(
        platform=_PLATFORM, platform_id=uri, text=normalise("\n".join((str(record["text"]), *pictures))),
        created_at=indexed, url=f"https://bsky.app/profile/{did}/post/{uri.rsplit('/', 1)[-1]}",
        author=pseudonym(did, salt), links=tuple(dict.fromkeys(_links(record))),
        language=str(languages[0]).split("-")[0].lower() or "und", reach=reach,
    )  # fmt: skip


def _links(record: Mapping[str, Any]) -> Iterator[str]:
    """What is linked: the text shows addresses cut, with "...", so only facets and cards count."""
    for facet in record.get("facets") or ():
        for feature in facet.get("features") or ():
            if isinstance(feature.get("uri"), str):
                yield feature["uri"]
    for embed in _embeds(record.get("embed")):
        address = (embed.get("external") or {}).get("uri")
        if isinstance(address, str):
            yield address


def _alt_texts(embed: Any) -> Iterator[str]:
    for part in _embeds(embed):
        for picture in part.get("images") or ():
            if alt := str(picture.get("alt") or "").strip():
                yield alt


def _embeds(embed: Any) -> Iterator[Mapping[str, Any]]:
    """An embed and the media beside a quoted post."""
    if isinstance(embed, Mapping):
        yield embed
        yield from _embeds(embed.get("media"))
