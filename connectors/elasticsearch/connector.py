"""Posts in Elasticsearch (its own client): a team's stream or archive, ranked by BM25 over an English analyser.

A claim is sent as a match query, which has no operators; `query_string` would take its words for some.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Annotated, Any, NamedTuple

from elasticsearch import ApiError, Elasticsearch, TransportError
from elasticsearch.helpers import streaming_bulk
from pydantic import AfterValidator, Field, SecretStr

from connectors.asking import TIMEOUT_S, PassingFailure, ask, http_failure, no_answer, not_an_answer
from connectors.options import KeptDays, OptionalSecret, Options, read_options, split_address
from connectors.platform_query import all_words
from connectors.protocol import (
    CompiledQuery,
    Connector,
    ConnectorContext,
    Estimate,
    Limits,
    Page,
    Policy,
    Prices,
    SearchFailed,
    Window,
)  # fmt: skip
from connectors.records import count, moment, pseudonym, read_records
from domain.outcome import Unavailable
from domain.post import Post, Reach
from domain.query import EndpointKind, Query
from domain.text import shorten

_MOST_WORDS = 1024  # clauses of a query
_DEPTH = 200  # best posts of a search
_KEEP_ALIVE = "5m"
_BULK = 500
_INDEX = re.compile(r"[^\\/*?\"<>|\s,#:A-Z_+.-][^\\/*?\"<>|\s,#:A-Z]{0,84}")  # 255 bytes at most, as UTF-8


class _Cursor(NamedTuple):
    """A point in time, the sort values of the last post read in it, and how many were read."""

    pit: str | None
    after: list[Any] | None
    read: int


def _node_address(text: str) -> str:
    parts = split_address(text.strip(), ("https", "http"))
    if parts.scheme == "http" and parts.port is None:
        raise ValueError("it names no port, as http://host.example:9200")
    return text.strip()


def _index_name(text: str) -> str:
    """Of one index: a pattern or a list would be written to, and deleted from, wherever it fits."""
    if not _INDEX.fullmatch(text):
        raise ValueError("it is no name of one index: small letters, digits, hyphens, without * , or spaces")
    return text


class ElasticsearchOptions(Options):
    url: Annotated[str, AfterValidator(_node_address)]
    index: Annotated[str, AfterValidator(_index_name)] = "claimwatch-posts"
    api_key: OptionalSecret = SecretStr("")
    page_size: int = Field(100, gt=0, le=1000)
    may_train: bool = True  # the team's own posts
    keep_days: KeptDays | None = None
    k1: float = Field(1.2, ge=0, allow_inf_nan=False)
    b: float = Field(0.75, ge=0, le=1)


class ElasticsearchConnector:
    """May be shared by threads."""

    kind = EndpointKind.RANKED
    prices = Prices()

    def __init__(self, context: ConnectorContext, options: ElasticsearchOptions) -> None:
        self.name = context.name
        self.limits = Limits(options.page_size)
        self.policy = Policy(options.may_train, options.keep_days, recheck_hours=24, quote_characters=None)
        self._salt, self._clock, self._index = context.salt, context.clock, options.index
        self._k1, self._b = options.k1, options.b
        self._client = Elasticsearch(
            options.url, api_key=options.api_key.get_secret_value() or None, request_timeout=TIMEOUT_S[1], max_retries=0
        )

    def compile(self, query: Query) -> list[CompiledQuery]:
        """All words, each once; the least informative of more than 1,024 go."""
        words, trail = all_words(query, _MOST_WORDS)
        return [CompiledQuery(" ".join(words), replace(query, trail=trail))] if words else []

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        answer = self._ask(lambda: self._client.count(index=self._index, query=_query(compiled, window)))
        found = count(answer.get("count"))
        return Estimate(None if found is None else min(found, _DEPTH), 0)

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        """Pages of one point in time; where it has passed, a new one goes on after the same post."""
        place = _Cursor(*json.loads(cursor)) if cursor else _Cursor(None, None, 0)
        size = min(most or self.limits.page_size, _DEPTH - place.read)
        answer = self._page(compiled, window, place, size)
        hits = _hits(answer)
        posts, notices = read_records(hits, _post)
        read = place.read + len(hits)
        if len(hits) < size or read >= _DEPTH:
            self._close(answer.get("pit_id"))
            return Page(tuple(posts), notices=tuple(notices))
        following = _Cursor(answer.get("pit_id"), _sort_values(hits[-1]), read)
        return Page(tuple(posts), json.dumps(following), tuple(notices))

    def gone(self, ids: Sequence[str]) -> set[str]:
        if not ids:
            return set()
        answer = self._ask(lambda: self._client.mget(index=self._index, ids=list(ids), source=False))
        docs = answer.get("docs")
        if not isinstance(docs, list):
            raise SearchFailed(not_an_answer("docs").outcome)
        return {str(doc["_id"]) for doc in docs if not _is_found(doc)}

    def close(self) -> None:
        self._client.close()

    def add(self, posts: Iterable[Post]) -> Iterator[str]:
        """Index posts in bulk, replacing those of the same id; a line for each that the server refused.

        Raises SearchFailed where the server does not answer; what went before is in.
        """
        self.prepare_index()
        actions = ({"_index": self._index, "_id": post.platform_id, **_document(post)} for post in posts)
        for item in self._refused(actions):
            yield f"{item.get('_id')}: {_reason(item)}"

    def remove(self, ids: Sequence[str]) -> None:
        """Delete the posts; all are tried before SearchFailed names the first that the server kept."""
        deletions = ({"_op_type": "delete", "_index": self._index, "_id": id_} for id_ in ids)
        # A post that is not there is answered by 404 and no error; a missing index, which may be a wrong name, by both.
        kept = [item for item in self._refused(deletions) if item.get("status") != 404 or item.get("error")]
        if kept:
            why = f"{kept[0].get('_id')}: {_reason(kept[0])}"
            raise SearchFailed(Unavailable(f"{len(kept)} of {len(ids)} posts could not be removed: {why}"))

    def remove_author(self, author: str) -> None:
        """Of posts that were indexed by `claimwatch index`, which keeps a pseudonym of each author."""
        ours = {"term": {"author": pseudonym(author, self._salt)}}
        answer = self._ask(lambda: self._client.delete_by_query(index=self._index, query=ours, refresh=True))
        if answer.get("failures") or answer.get("version_conflicts"):
            raise SearchFailed(Unavailable("some posts of the author could not be removed: do it again"))

    def _refused(self, actions: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The items of a bulk request that were not carried out. Raises SearchFailed where no answer comes."""
        try:
            for good, item in streaming_bulk(self._client, actions, chunk_size=_BULK, raise_on_error=False):
                if not good:
                    yield next(iter(item.values()))
        except (ApiError, TransportError) as exc:
            raise self._failure(exc) from None

    def prepare_index(self) -> None:
        """Make the index, from a template of its name, unless it is there."""
        if self._ask(lambda: self._client.indices.exists(index=self._index)):
            return
        settings = {"similarity": {"bm25": {"type": "BM25", "k1": self._k1, "b": self._b}}}
        template = {"settings": settings, "mappings": _MAPPINGS}
        indices = self._client.indices
        self._ask(
            lambda: indices.put_index_template(name=self._index, index_patterns=[f"{self._index}*"], template=template)
        )
        self._ask(lambda: indices.create(index=self._index, settings=settings, mappings=_MAPPINGS))

    def _page(self, compiled: CompiledQuery, window: Window, place: _Cursor, size: int) -> Any:
        if place.pit:
            try:
                return self._ask(lambda: self._in_point(place.pit, compiled, window, place.after, size))
            except _PointPassed:
                pass
        opened = self._ask(lambda: self._client.open_point_in_time(index=self._index, keep_alive=_KEEP_ALIVE))
        return self._ask(lambda: self._in_point(opened.get("id"), compiled, window, place.after, size))

    def _in_point(self, pit: str | None, compiled: CompiledQuery, window: Window, after: Any, size: int) -> Any:
        return self._client.search(
            query=_query(compiled, window), size=size, pit={"id": pit, "keep_alive": _KEEP_ALIVE},
            sort=[{"_score": "desc"}, {"id": "asc"}], search_after=after, track_total_hits=False,
            allow_partial_search_results=False,
        )  # fmt: skip

    def _close(self, pit: str | None) -> None:
        if pit:
            self._ask(lambda: self._client.options(ignore_status=404).close_point_in_time(id=pit))

    def _ask(self, request: Any) -> Any:
        def checked() -> Any:
            answer = request()
            if not isinstance(answer.body, dict | bool):
                raise not_an_answer("a JSON object")
            _refuse_parts(answer.body)
            return answer

        return ask(checked, (ApiError, TransportError), self._failure)

    def _failure(self, exc: Exception) -> SearchFailed:
        if isinstance(exc, ApiError) and exc.status_code == 404:
            if "index_not_found" in str(exc.error):
                return SearchFailed(
                    Unavailable(f"there is no index {self._index!r}: put posts into it, or correct index")
                )
            return _PointPassed(Unavailable("the point in time has passed"))
        if isinstance(exc, ApiError):
            return http_failure(exc.status_code, exc.meta.headers, self._clock(), said=str(exc.message))
        return no_answer(exc)


class _PointPassed(SearchFailed):
    """The search must go on in a new point in time."""


_MAPPINGS: dict[str, Any] = {
    "dynamic": False,
    "properties": {
        "id": {"type": "keyword"}, "platform": {"type": "keyword"}, "author": {"type": "keyword"},
        "text": {"type": "text", "analyzer": "english", "similarity": "bm25"},
        "created_at": {"type": "date"}, "language": {"type": "keyword"},
        "url": {"type": "keyword", "index": False}, "links": {"type": "keyword"},
    },
}  # fmt: skip


def _query(compiled: CompiledQuery, window: Window) -> dict[str, Any]:
    between = {"gte": window.since.isoformat(), "lt": window.until.isoformat()}
    return {
        "bool": {
            "must": {"match": {"text": {"query": compiled.syntax, "operator": "or"}}},
            "filter": {"range": {"created_at": between}},
        }
    }


def _refuse_parts(body: object) -> None:
    """Raises where an answer is that of some shards only: what the others hold would pass for "no posts"."""
    if not isinstance(body, dict):
        return
    if body.get("timed_out"):
        raise PassingFailure(Unavailable("the index answered in part: it ran out of time"))
    shards = body.get("_shards")
    if isinstance(shards, dict) and (failed := count(shards.get("failed"))):
        raise PassingFailure(
            Unavailable(f"the index answered in part: {failed} of {shards.get('total')} shards failed")
        )


def _hits(answer: Any) -> list[Any]:
    found = answer.get("hits")
    hits = found.get("hits") if isinstance(found, dict) else None
    if not isinstance(hits, list):
        raise SearchFailed(not_an_answer("hits").outcome)
    return hits


def _sort_values(hit: Any) -> list[Any]:
    values = hit.get("sort") if isinstance(hit, dict) else None
    if not isinstance(values, list):
        raise SearchFailed(not_an_answer("sort values").outcome)
    return values


def _is_found(doc: Any) -> bool:
    """Raises where the server could not look, as in an index that is missing or a shard that is down."""
    if not isinstance(doc, dict) or "error" in doc or "_id" not in doc or not isinstance(doc.get("found"), bool):
        reason = _reason(doc) if isinstance(doc, dict) else "no record"
        raise SearchFailed(Unavailable(f"the index did not say which posts are there: {reason}"))
    return bool(doc["found"])


def _reason(item: Mapping[str, Any]) -> str:
    error = item.get("error")
    said = error.get("reason") or error.get("type") if isinstance(error, dict) else error
    return shorten(str(said or "refused"), 160)


def _document(post: Post) -> dict[str, Any]:
    reach = post.reach
    return {
        "id": post.platform_id, "platform": post.platform, "author": post.author, "text": post.text,
        "created_at": post.created_at.astimezone(UTC).isoformat(), "language": post.language, "url": post.url,
        "links": list(post.links), "likes": reach.likes, "reposts": reach.reposts, "replies": reach.replies,
        "views": reach.views,
    }  # fmt: skip


def _post(hit: Mapping[str, Any]) -> Post:
    source = hit["_source"]
    return Post(
        platform=str(source["platform"]), platform_id=str(hit["_id"]), text=str(source["text"]),
        created_at=moment(source["created_at"]), url=source.get("url"), author=source.get("author"),
        links=tuple(source.get("links") or ()), language=source.get("language") or "und",
        reach=Reach(*(count(source.get(name)) for name in ("likes", "reposts", "replies", "views"))),
    )  # fmt: skip


def build(options: Mapping[str, str], context: ConnectorContext) -> Connector:
    return ElasticsearchConnector(context, read_options(ElasticsearchOptions, context.name, options))
