"""Each platform's answers over one set of posts, newest first, in its wire format."""

import base64
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import ClassVar

from tests.replay.grammars import BLUESKY, MASTODON, REDDIT, Accepts, IllegalQuery, X, fits
from tests.replay.server import Answer, Request

NOW = datetime(2026, 11, 28, 8, tzinfo=UTC)


@dataclass(frozen=True)
class Said:
    """A post as the platform holds it."""

    id: str
    text: str
    at: datetime
    author: str = "u1"
    extra: dict[str, object] = field(default_factory=dict)


def said(
    number: int, *, text: str = "tap water is banned in city", every: timedelta = timedelta(hours=1)
) -> list[Said]:
    """`number` posts of this text, the newest first, the last an hour before NOW."""
    return [Said(f"{number - i}", f"{text} {number - i}", NOW - (i + 1) * every, f"u{i % 7}") for i in range(number)]


def _iso(moment: datetime, suffix: str = ".000Z") -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}{suffix}"


def _matching(grammar: Accepts, query: str, posts: list[Said]) -> list[Said]:
    parsed = grammar.parse(query)
    return sorted((post for post in posts if fits(parsed, post.text)), key=lambda post: post.at, reverse=True)


@dataclass
class XServer:
    posts: list[Said]
    grammar: Accepts = X
    compliance: list[str] = field(default_factory=list)
    uploaded: list[str] = field(default_factory=list)
    base_url: str = ""
    now: datetime = NOW
    job_states: list[str] = field(default_factory=list)  # of compliance jobs, one a look; then "complete"
    jobs: int = 0

    def __call__(self, request: Request) -> Answer:
        if request.path.endswith("/compliance/jobs") and request.method == "POST":
            self.jobs += 1
            urls = {"upload_url": f"{self.base_url}/upload", "download_url": f"{self.base_url}/download"}
            return Answer({"data": {"id": f"{self.jobs}", "status": "created", **urls}})
        if "/compliance/jobs/" in request.path:
            status = self.job_states.pop(0) if self.job_states else "complete"
            return Answer({"data": {"id": "7", "status": status, "download_url": f"{self.base_url}/download"}})
        if request.path == "/upload":
            self.uploaded = request.body.decode().split()
            return Answer(b"")
        if request.path == "/download":
            known = {post.id for post in self.posts}
            gone = [id_ for id_ in self.uploaded if id_ not in known]
            return Answer("\n".join(json.dumps({"id": id_, "reason": "deleted"}) for id_ in gone).encode())
        try:
            found = self._found(request)
        except IllegalQuery as exc:
            return Answer({"title": "Invalid Request", "detail": f"{exc}", "type": "invalid-request"}, 400)
        if "counts" in request.path:
            return Answer({"data": [], "meta": {"total_tweet_count": len(found)}})
        if refused := self._window_refused(request):
            return Answer({"title": "Invalid Request", "detail": refused, "type": "invalid-request"}, 400)
        size, start = int(request.params.get("max_results", 10)), int(request.params.get("next_token", "0"))
        if not 10 <= size <= 500:
            return Answer({"title": "Invalid Request", "detail": f"max_results {size}"}, 400)
        page = found[start : start + size]
        meta: dict[str, object] = {"result_count": len(page)}
        if start + size < len(found):
            meta["next_token"] = str(start + size)
        return Answer({"data": [self._tweet(post) for post in page], "meta": meta} if page else {"meta": meta})

    def _window_refused(self, request: Request) -> str:
        start, end = (datetime.fromisoformat(request.params[name]) for name in ("start_time", "end_time"))
        if "recent" in request.path and start < self.now - timedelta(days=7):
            return "'start_time' must be within the last seven days"
        return "'end_time' must be at least 10 seconds ago" if end > self.now - timedelta(seconds=10) else ""

    def _found(self, request: Request) -> list[Said]:
        start, end = (datetime.fromisoformat(request.params[name]) for name in ("start_time", "end_time"))
        return [p for p in _matching(self.grammar, request.params["query"], self.posts) if start <= p.at < end]

    def _tweet(self, post: Said) -> dict[str, object]:
        return {
            "id": post.id, "text": post.text, "created_at": _iso(post.at), "author_id": post.author, "lang": "en",
            "public_metrics": {"like_count": 3, "retweet_count": 2, "reply_count": 1, "impression_count": 90},
            **post.extra,
        }  # fmt: skip


@dataclass
class RedditServer:
    posts: list[Said]
    most: int = 1000

    def __call__(self, request: Request) -> Answer:
        # Far into its window with little asked: the client does not pace itself.
        limits = {"x-ratelimit-remaining": "600.0", "x-ratelimit-used": "1", "x-ratelimit-reset": "300"}
        if request.path.endswith("access_token"):
            return Answer(
                {"access_token": "t0ken-of-reddit", "expires_in": 86400, "token_type": "bearer", "scope": "*"}
            )
        if request.path.endswith("/api/info"):
            names = request.params["id"].split(",")
            children = [self._thing(post) for post in self.posts if f"t3_{post.id}" in names]
            return Answer(_listing(children, None), headers=limits)
        try:
            found = _matching(REDDIT, request.params["q"], self.posts)[: self.most]
        except IllegalQuery as exc:
            return Answer({"message": f"{exc}", "error": 400}, 400, limits)
        names = [f"t3_{post.id}" for post in found]
        start = names.index(request.params["after"]) + 1 if "after" in request.params else 0
        end = start + int(request.params["limit"])
        after = names[end - 1] if end < len(found) else None
        return Answer(_listing([self._thing(post) for post in found[start:end]], after), headers=limits)

    def _thing(self, post: Said) -> dict[str, object]:
        data = {
            "id": post.id, "title": post.text, "selftext": "", "author": post.author, "is_self": True, "score": 5,
            "num_comments": 2, "created_utc": post.at.timestamp(), "permalink": f"/r/water/comments/{post.id}/t/",
            "removed_by_category": None, **post.extra,
        }  # fmt: skip
        return {"kind": "t3", "data": data}


def _listing(children: list[dict[str, object]], after: str | None) -> dict[str, object]:
    return {"kind": "Listing", "data": {"after": after, "children": children}}


@dataclass
class BlueskyServer:
    posts: list[Said]
    has_v2: bool = True
    needs_login: bool = True
    logins: int = 0

    def __call__(self, request: Request) -> Answer:
        method = request.path.rsplit("/", 1)[-1]
        if method in {"com.atproto.server.createSession", "com.atproto.server.refreshSession"}:
            self.logins += 1
            tokens = {"accessJwt": _jwt("access"), "refreshJwt": _jwt("refresh")}
            return Answer({"did": "did:plc:me", "handle": "desk.example", **tokens})
        if method == "app.bsky.feed.getPosts":
            asked = request.params["uris[*]"].split(",")
            return Answer({"posts": [self._view(post) for post in self.posts if _uri(post) in asked]})
        second = method == "app.bsky.feed.searchPostsV2"
        if second and not self.has_v2:
            return Answer({"error": "MethodNotImplemented", "message": "Method Not Implemented"}, 501)
        cursor = request.params.get("cursor")
        if cursor and self.needs_login and "Authorization" not in request.headers:
            return Answer("<html><body>Request forbidden by administrative rules</body></html>", 403)
        for name in ("since", "until"):
            if "T" not in request.params[name] or not request.params[name].endswith("Z"):
                return Answer({"error": "InvalidRequest", "message": f"invalid {name}"}, 400)
        try:
            found = self._found(request, "query" if second else "q")
        except IllegalQuery as exc:
            return Answer({"error": "BadQueryString", "message": f"{exc}"}, 400)
        start, limit = int(cursor or 0), int(request.params["limit"])
        answer: dict[str, object] = {"posts": [self._view(post) for post in found[start : start + limit]]}
        if start + limit < len(found):
            answer["cursor"] = str(start + limit)
        return Answer(answer | ({"hitsTotal": len(found)} if second else {}))

    def _found(self, request: Request, name: str) -> list[Said]:
        since, until = (datetime.fromisoformat(request.params[name]) for name in ("since", "until"))
        return [p for p in _matching(BLUESKY, request.params[name], self.posts) if since <= p.at < until]

    def _view(self, post: Said) -> dict[str, object]:
        record = {"$type": "app.bsky.feed.post", "text": post.text, "createdAt": _iso(post.at), "langs": ["en-GB"]}
        return {
            "uri": _uri(post), "cid": "bafy", "author": {"did": f"did:plc:{post.author}", "handle": "someone.example"},
            "record": record | post.extra, "indexedAt": _iso(post.at), "likeCount": 3,
            "repostCount": 2, "replyCount": 1,
        }  # fmt: skip


def _uri(post: Said) -> str:
    return f"at://did:plc:{post.author}/app.bsky.feed.post/{post.id}"


def _jwt(scope: str) -> str:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = {"scope": scope, "sub": "did:plc:me", "iat": 1, "exp": 4102444800, "aud": "did:web:local"}
    return f"{part({'alg': 'ES256K'})}.{part(claims)}.c2lnbmF0dXJl"


@dataclass
class MastodonServer:
    posts: list[Said]

    def __call__(self, request: Request) -> Answer:
        if request.path == "/api/v1/statuses":
            asked = request.params.get("id[][*]", "").split(",")
            return Answer([self._status(post) for post in self.posts if post.id in asked])
        if "Authorization" not in request.headers:
            return Answer({"accounts": [], "statuses": [], "hashtags": []})
        try:
            found = _matching(MASTODON, request.params["q"], self.posts)
        except IllegalQuery as exc:
            return Answer({"error": f"{exc}"}, 422)
        start, limit = int(request.params.get("offset", 0)), int(request.params["limit"])
        statuses = [self._status(post) for post in found[start : start + limit]]
        return Answer({"accounts": [], "statuses": statuses, "hashtags": []})

    def _status(self, post: Said) -> dict[str, object]:
        return {
            "id": post.id, "created_at": _iso(post.at), "content": f"<p>{post.text}</p>", "language": "en",
            "uri": f"https://social.example/s/{post.id}", "url": f"https://social.example/@a/{post.id}",
            "account": {"id": post.author, "acct": post.author, "username": post.author}, "spoiler_text": "",
            "favourites_count": 3, "reblogs_count": 2, "replies_count": 1, "media_attachments": [], "reblog": None,
            **post.extra,
        }  # fmt: skip


@dataclass
class ElasticsearchServer:
    """The part of the REST interface that the connector speaks: match over words, points in time, bulk, mget."""

    HEADERS: ClassVar[dict[str, str]] = {
        "X-Elastic-Product": "Elasticsearch",
        "Content-Type": "application/vnd.elasticsearch+json;compatible-with=9",
    }
    posts: list[Said]
    indexed: dict[str, dict[str, object]] = field(default_factory=dict)
    points: set[str] = field(default_factory=set)
    refuse: frozenset[str] = frozenset()  # ids that bulk indexing refuses
    _numbers: "count[int]" = field(default_factory=count)

    def __post_init__(self) -> None:
        for post in self.posts:
            self.indexed[post.id] = {
                "id": post.id, "platform": "stream", "text": post.text, "created_at": _iso(post.at, "+00:00"),
                "language": "en", "author": post.author, "links": [], **post.extra,
            }  # fmt: skip

    def __call__(self, request: Request) -> Answer:
        answer = self._answer(request)
        return Answer(answer.body, answer.status, self.HEADERS | dict(answer.headers))

    def _answer(self, request: Request) -> Answer:
        path = request.path
        if path.endswith("/_pit") and request.method == "POST":
            point = f"pit{next(self._numbers)}"
            self.points.add(point)
            return Answer({"id": point})
        if path == "/_pit":
            self.points.discard(request.json()["id"])
            return Answer({"succeeded": True})
        if path.endswith("/_search"):
            return self._search(request)
        if path.endswith("/_count"):
            return Answer({"count": len(self._hits(request.json()["query"]))})
        if path.endswith("/_mget"):
            return Answer({"docs": [{"_id": i, "found": i in self.indexed} for i in request.json()["ids"]]})
        if path.endswith("/_bulk"):
            return self._bulk(request)
        if path.endswith("/_delete_by_query"):
            return self._delete_by_query(request.json()["query"]["term"]["author"])
        if request.method == "HEAD":
            return Answer(b"", 200 if self.indexed else 404)
        return Answer({"acknowledged": True})

    def _search(self, request: Request) -> Answer:
        asked = request.json()
        if asked["pit"]["id"] not in self.points:
            return Answer({"error": {"type": "search_context_missing_exception", "reason": "gone"}, "status": 404}, 404)
        hits = self._hits(asked["query"])
        if after := asked.get("search_after"):
            hits = [hit for hit in hits if (-hit[0], hit[1]) > (-after[0], after[1])]
        found = [
            {"_id": id_, "_score": score, "_source": self.indexed[id_], "sort": [score, id_]}
            for score, id_ in hits[: asked["size"]]
        ]
        return Answer({"pit_id": asked["pit"]["id"], "hits": {"hits": found}})

    def _delete_by_query(self, author: str) -> Answer:
        theirs = [id_ for id_, source in self.indexed.items() if source["author"] == author]
        kept = [id_ for id_ in theirs if id_ in self.refuse]
        for id_ in set(theirs) - set(kept):
            del self.indexed[id_]
        return Answer({"deleted": len(theirs) - len(kept), "version_conflicts": len(kept), "failures": []})

    def _hits(self, query: dict[str, dict[str, dict[str, dict[str, dict[str, str]]]]]) -> list[tuple[float, str]]:
        wanted = set(query["bool"]["must"]["match"]["text"]["query"].lower().split())
        between = query["bool"]["filter"]["range"]["created_at"]
        scored = []
        for id_, source in self.indexed.items():
            shared = len(wanted & set(str(source["text"]).lower().split()))
            at = datetime.fromisoformat(str(source["created_at"]))
            if shared and datetime.fromisoformat(str(between["gte"])) <= at < datetime.fromisoformat(
                str(between["lt"])
            ):
                scored.append((float(shared), id_))
        return sorted(scored, key=lambda hit: (-hit[0], hit[1]))

    def _bulk(self, request: Request) -> Answer:
        lines = [json.loads(line) for line in request.body.splitlines()]
        items: list[dict[str, object]] = []
        while lines:
            (action, meta), *_ = lines.pop(0).items()
            source = lines.pop(0) if action != "delete" else None
            id_ = meta["_id"]
            if id_ in self.refuse:
                error = {"type": "document_parsing_exception", "reason": "failed to parse field [created_at]"}
                items.append({action: {"_id": id_, "status": 400, "error": error}})
                continue
            there = id_ in self.indexed
            if source is None:
                self.indexed.pop(id_, None)
            else:
                self.indexed[id_] = source
            items.append({action: {"_id": id_, "status": 200 if there or source else 404}})
        return Answer({"errors": any("error" in str(item) for item in items), "items": items})
