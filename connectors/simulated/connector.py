"""A platform made of a file of posts and one of our own indexes: the demo, the papers' setting, a team's archive."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from connectors.protocol import CompiledQuery, Connector, Estimate, Limits, Page, Policy, Window
from connectors.simulated.posts_file import PostsFile, read_posts
from domain.errors import BadSetting
from domain.query import EndpointKind, Query
from domain.search_index import SearchIndex

_DEPTH = 50  # posts that a ranked or dense search gives in all: after them everything is some way off


class SimulatedConnector:
    """Behaves as its index does: boolean gives every match, newest first; ranked and dense the best `_DEPTH`."""

    def __init__(self, name: str, index: SearchIndex, file: PostsFile, *, page_size: int = 100) -> None:
        self.name = name
        self.kind = index.kind
        self.limits = Limits(page_size)
        self.policy = Policy(may_train=True, keep_days=None, recheck_hours=None, quote_characters=None)
        self._index = index
        self._posts = {post.platform_id: post for post in file.posts}
        self._notices = file.notices
        index.add([post.platform_id for post in file.posts], [post.text for post in file.posts])

    def compile(self, query: Query) -> list[CompiledQuery]:
        return [CompiledQuery(str(query), query)] if query.groups else []

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        return Estimate(len(self._ids(compiled, window)), 0)

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None) -> Page:
        start = int(cursor or 0)
        end = start + self.limits.page_size
        ids = self._ids(compiled, window)
        posts = tuple(self._posts[id_] for id_ in ids[start:end])
        return Page(posts, str(end) if end < len(ids) else None, len(posts), self._notices if start == 0 else ())

    def gone(self, ids: Sequence[str]) -> set[str]:
        return set(ids) - set(self._posts)

    def _ids(self, compiled: CompiledQuery, window: Window) -> list[str]:
        hits = self._index.search(compiled.query, len(self._index))
        inside = [hit.id for hit in hits if window.since <= self._posts[hit.id].created_at < window.until]
        return inside if self.kind is EndpointKind.BOOLEAN else inside[:_DEPTH]


def build(options: Mapping[str, str], index_for: Callable[[EndpointKind], SearchIndex]) -> Connector:
    """Options: posts (path of the file), kind (boolean, ranked or dense), page_size, undated (a moment).

    Raises BadSetting for an option that is missing or wrong, BadInput for a file that cannot be used.
    """
    name = options["name"]
    unknown = set(options) - {"name", "salt", "posts", "kind", "page_size", "undated"}
    if unknown:
        raise BadSetting(f"connectors.{name}.options.{sorted(unknown)[0]}: no such option: remove it")
    if not options.get("posts"):
        raise BadSetting(f"connectors.{name}.options.posts is missing: give the path of a .jsonl or .csv file of posts")
    kind, page_size = _kind(name, options.get("kind", "boolean")), _page_size(name, options.get("page_size", "100"))
    undated = datetime.fromisoformat(options["undated"]) if options.get("undated") else None
    file = read_posts(Path(options["posts"]), salt=options["salt"], undated=undated)
    return SimulatedConnector(name, index_for(kind), file, page_size=page_size)


def _kind(name: str, given: str) -> EndpointKind:
    try:
        return EndpointKind(given)
    except ValueError as exc:
        kinds = ", ".join(kind.value for kind in EndpointKind)
        raise BadSetting(f"connectors.{name}.options.kind: {given!r} is none of {kinds}") from exc


def _page_size(name: str, given: str) -> int:
    if not given.isdecimal() or int(given) == 0:
        raise BadSetting(f"connectors.{name}.options.page_size: {given!r} is no number of posts above 0")
    return int(given)
