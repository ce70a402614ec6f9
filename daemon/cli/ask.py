"""rewrite, search, match: the parts of the pipeline, asked by hand. Nothing of it is stored."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from connectors.protocol import CompiledQuery, Connector, Page, SearchFailed, Window
from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from daemon.estimating import estimates
from daemon.fetching import read_page
from daemon.service import Service
from daemon.settings import ConnectorSettings
from daemon.store import spending
from domain.errors import BadInput
from domain.fact_check import Claim
from domain.ids import FactCheckId
from domain.outcome import Unavailable
from domain.post import Post
from domain.query import EndpointKind, Query
from domain.text import has_words, shorten
from models.rewriting.policy import Count, CountResult, History, QueryResult, Rewriter, searches_of

app = typer.Typer()
ClaimArgument = Annotated[str, typer.Argument(metavar="CLAIM", help="Text of the claim, in quotes.")]
Language = Annotated[str | None, typer.Option(help="The claim's language, as en or es; default: as it reads.")]


@app.command()
def rewrite(
    claim: ClaimArgument,
    endpoint: Annotated[str, typer.Option(help="boolean, ranked, dense, or the name of a connector.")] = "boolean",
    policy: Annotated[str | None, typer.Option(help="learned, claim, keyphrases or rarest; default as set.")] = None,
    language: Language = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Also how many posts the queries would bring, and at what cost.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """The queries a claim would be searched with, and how each came from it."""
    asked = _claim(claim, language)
    from daemon.wiring import rewriter_for

    with session.service() as service:
        kind = _kind(service, endpoint, "--endpoint")
        queries = _queries(service, rewriter_for(service, kind, asked.language, policy), asked)
        if estimate:
            return _say_estimates(service, endpoint, queries, json)
    if json:
        return terminal.say_json(
            [
                {"query": str(q), "policy": q.policy, "edits": [str(e) for e in q.trail], "predicted": q.worth}
                for q in queries
            ]
        )
    if not queries:
        return terminal.say("no query: the claim has no word to search for")
    rows = [(i, str(q), "; ".join(map(str, q.trail)), _predicted(q), q.policy) for i, q in enumerate(queries, 1)]
    terminal.say_table(["", "query", "how it came from the claim", "predicted to find", "policy"], rows)


def _predicted(query: Query) -> str:
    return "" if query.worth is None else f"{query.worth:.0%} of the posts"


def _say_estimates(service: Service, endpoint: str, queries: list[Query], json: bool) -> None:
    """Expected posts and cost of each query on the connector, or on all of that kind, and what the budget allows."""
    connectors = [c for c in service.connectors.values() if endpoint in {c.name, c.kind.value}]
    if not connectors:
        raise BadInput(f"--estimate: no connector is set up for {endpoint}: add one to claimwatch.toml")
    now = service.clock()
    window = Window(now - timedelta(days=service.settings.search.lookback_days), now)
    found = [row for connector in connectors for row in estimates(service, connector, queries, window)]
    if json:
        return terminal.say_json([asdict(row) for row in found])
    rows = [(row.connector, row.syntax, row.posts_text, row.cost_text, row.note) for row in found]
    terminal.say_table(["connector", "what the platform is sent", "posts", "cost", ""], rows)
    with service.database.connection() as conn:
        for connector in connectors:
            terminal.say(f"{connector.name}: {spending.allowed(conn, connector, now=now)}")


@app.command()
def search(
    claim: ClaimArgument,
    posts: Annotated[Path | None, typer.Option(help="Search this file of posts instead of the connectors.")] = None,
    kind: Annotated[str, typer.Option(help="How to search that file: boolean, ranked or dense.")] = "boolean",
    days: Annotated[int, typer.Option(min=1, max=3650, help="How many days back.")] = 30,
    limit: Annotated[int, typer.Option(min=1, help="Show at most so many posts.")] = 20,
    language: Language = None,
    json: JsonFlag = False,
) -> None:
    """Search for a claim now, with the queries that the policy makes of it: a page each, within the budgets. Exit code
    2 says that a search was not carried out."""
    asked = _claim(claim, language)
    with session.service() as service:
        connectors = _posts_file(service, posts, kind) if posts else list(service.connectors.values())
        if not connectors:
            raise BadInput("no connector is set up: give --posts FILE, or add one to claimwatch.toml")
        now = service.clock()
        window = Window(now - timedelta(days=days), now)
        read = _read_file if posts else partial(read_page, service)
        results = [_search(service, c, asked, partial(read, window=window)) for c in connectors]
    _show([row for result in results for row in result.found.values()], limit, json)
    raise typer.Exit(0 if all(result.carried_out for result in results) else 2)


def _show(found: list["_Found"], limit: int, json: bool) -> None:
    shown = found[:limit]
    if json:
        return terminal.say_json([row.as_dict() for row in shown])
    rows = [(f.connector, f.post.created_at, shorten(f.post.text, 120), f.query) for f in shown]
    terminal.say_table(["connector", "posted", "post", "found by"], rows)
    terminal.say(f"{len(found)} posts found, {len(shown)} shown")


@app.command()
def match(
    post: Annotated[str, typer.Argument(metavar="POST", help="Text of the post, in quotes.")],
    limit: Annotated[int, typer.Option(min=1, help="Show at most so many fact-checks.")] = 5,
    json: JsonFlag = False,
) -> None:
    """The fact-checks that fit a post, with how sure we are and the sentence that says why; of a long post also the
    passage that fits."""
    from daemon.preparation import outdated, renew_vectors
    from domain.urls import links_in
    from models.ranking.matcher import PostText

    with session.service() as service:
        if waiting := outdated(service):
            with terminal.progress("fact-checks") as bar:
                task = bar.add_task("embedding anew", total=waiting)
                renew_vectors(service, lambda n: bar.advance(task, n))
        with service.database.connection() as conn:
            result = service.matcher(conn).match([PostText(post, links_in(post))], k=limit)[0]
    matches = result.matches
    if json:
        return terminal.say_json(
            {"language": result.language, "why": result.why, "matches": [asdict(m) for m in matches]}
        )
    if not matches:
        return terminal.say(str(result.why))
    rows = [(f"{m.confidence:.0%}", m.fact_check_key, m.reason, m.stance, shorten(m.sentence, 160)) for m in matches]
    terminal.say_table(["sure", "fact-check", "why", "stance", "sentence that matched best"], rows)
    for m in (m for m in matches if m.passage):
        terminal.say(f"{m.fact_check_key} fits this passage of the post: {m.passage}")
    if matches[0].confidence < 0.5:
        terminal.say("none of them is likely to be the one")


@dataclass(frozen=True, slots=True)
class _Found:
    connector: str
    query: str
    post: Post

    def as_dict(self) -> dict[str, object]:
        post = self.post
        return {
            "connector": self.connector, "query": self.query, "id": post.platform_id, "created_at": post.created_at,
            "url": post.url, "text": post.text,
        }  # fmt: skip


@dataclass(slots=True)
class _Results:
    """What a connector gave, by id; each thing that there is to say about it is said once, as it happens."""

    connector: str
    found: dict[str, _Found] = field(default_factory=dict)
    carried_out: bool = True
    _said: set[str] = field(default_factory=set)

    def say(self, *notices: str) -> None:
        for notice in notices:
            if notice and notice not in self._said:
                self._said.add(notice)
                typer.echo(f"{self.connector}: {notice}", err=True)


def _claim(text: str, language: str | None) -> Claim:
    """Raises BadInput for what nobody can search for, before anything is opened."""
    text = session.claim_text(text)
    if not has_words(text):
        raise BadInput(f"{shorten(text, 60)!r} holds no word to search for: give letters or digits")
    if language:
        return Claim(FactCheckId(0), text, session.language(language))
    from models.language import detect_language

    return Claim(FactCheckId(0), text, detect_language(text))


def _kind(service: Service, endpoint: str, option: str) -> EndpointKind:
    if endpoint in service.connectors:
        return service.connectors[endpoint].kind
    if endpoint not in {kind.value for kind in EndpointKind}:
        names = [*(kind.value for kind in EndpointKind), *service.connectors]
        raise BadInput(f"{option} {endpoint}: choose from {', '.join(names)}")
    return EndpointKind(endpoint)


def _queries(service: Service, rewriter: Rewriter, claim: Claim) -> list[Query]:
    """What the policy asks a platform that does not count, as long as each query brings a post."""
    history: History = ()
    most = service.settings.search.queries_per_claim
    while len(searches_of(history)) < most and (step := rewriter.next(claim, history)):
        if isinstance(step, Count):
            history += (CountResult(step.query, None),)
        else:
            history += (QueryResult(step, posts_read=1, new_posts=1, confidences=(0.0,)),)
    return [result.query for result in searches_of(history)]


def _posts_file(service: Service, path: Path, kind: str) -> list[Connector]:
    """Raises BadInput for a file that cannot be used."""
    from daemon.wiring import index_for, open_connector

    options = {
        "posts": str(path),
        "kind": _kind(service, kind, "--kind").value,
        "undated": f"{service.clock() - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}",
    }
    given = ConnectorSettings(type="simulated", options=options)
    return [open_connector(service.settings, "file", given, service.clock, index_for(service.encode))]


def _read_file(connector: Connector, compiled: CompiledQuery, window: Window) -> Page:
    return connector.search(compiled, window, None)


def _search(
    service: Service, connector: Connector, claim: Claim, read_page: Callable[[Connector, CompiledQuery], Page]
) -> _Results:
    rewriter = service.rewriter(connector, claim.language)
    history: History = ()
    results = _Results(connector.name)
    most = service.settings.search.queries_per_claim
    while len(searches_of(history)) < most and (step := rewriter.next(claim, history)):
        if isinstance(step, Count):
            history += (CountResult(step.query, None),)
            continue
        read, before, carried_out = 0, len(results.found), True
        for compiled in connector.compile(step):
            try:
                page = read_page(connector, compiled)
            except SearchFailed as exc:
                results.say(str(exc))
                carried_out = results.carried_out = False
                if not isinstance(exc.outcome, Unavailable):
                    return results  # the next query would fare the same
                continue
            results.say(*page.notices, page.incomplete)
            read += len(page.posts)
            for post in page.posts:
                results.found.setdefault(post.platform_id, _Found(connector.name, str(step), post))
        history += (QueryResult(step, read, len(results.found) - before, carried_out=carried_out),)
    return results
