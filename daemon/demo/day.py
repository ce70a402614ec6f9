"""One real day over the demo's posts: import, search round by round, match, and the digest at its end.

Nothing is special about it but the clock and the folder: the same tick, queue, worker, store and outbox as in service.
Killed and started again, it goes on where it was.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from importlib import resources
from pathlib import Path

from daemon.importing import import_file
from daemon.intake.reader import ReadOptions
from daemon.jobs import Jobs
from daemon.preparation import prepare
from daemon.schedule import next_local_time
from daemon.service import Service
from daemon.settings import ConnectorSettings, ServiceSettings, Settings
from daemon.store import mailing
from daemon.wiring import open_postman, open_service

START = datetime(2026, 11, 26, 8, tzinfo=UTC)
END = START + timedelta(days=1)
ROUND = timedelta(hours=2)
ROUNDS = (END - START) // ROUND + 1
QUERIES = 4  # a claim at most: the day is to be over in a minute
SUBSCRIPTION = "morning desk"
RECIPIENT = "desk@newsroom.example"


@dataclass
class DemoClock:
    """Stands still until it is moved."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True, slots=True)
class DemoResult:
    mail: Path
    subject: str
    rows: tuple[tuple[str, str, int], ...]  # claim, rating, new posts
    posts: int


def demo_settings(base: Settings) -> Settings:
    """A home of its own under the data folder, the demo's posts as the one platform, mails into the outbox folder."""
    posts = ConnectorSettings(type="simulated", options={"posts": str(_data("posts.jsonl")), "kind": "boolean"})
    # Between two rounds no worker runs: a job that is still marked as running belongs to one that was killed.
    stalled = ServiceSettings(stalled_after_s=0.1)
    few = base.search.model_copy(update={"queries_per_claim": min(base.search.queries_per_claim, QUERIES)})
    return base.model_copy(
        update={
            "home": base.home / "demo", "connectors": {"demo": posts}, "service": stalled, "search": few,
            "database_url": None, "smtp_url": None,
        }
    )  # fmt: skip


@contextmanager
def open_demo(base: Settings) -> Iterator[tuple[Service, DemoClock]]:
    clock = DemoClock()
    with open_service(demo_settings(base), clock) as service:
        yield service, clock


def run_day(service: Service, clock: DemoClock, progress: Callable[[str], None] = lambda _: None) -> DemoResult:
    """Live through the day; `progress` is told of each step that is done (ROUNDS + 1 of them)."""
    import_file(service, _data("fact_checks.jsonl"), ReadOptions(clock=clock))
    prepare(service)
    _subscribe(service)
    progress("fact-checks taken in")
    jobs = Jobs(service, open_postman(service.settings))
    while clock.now <= END:
        _until_idle(jobs)
        progress(f"{clock.now:%a %H:%M}")
        clock.now += ROUND
    return _result(service)


def _until_idle(jobs: Jobs) -> None:
    """Also work where a tick makes nothing: a demo that was killed left its jobs in the queue."""
    made = 1
    while made:
        made = jobs.tick()
        jobs.work(until_empty=True)


def _subscribe(service: Service) -> None:
    with service.database.connection() as conn:
        values = {
            "name": SUBSCRIPTION, "recipients": [RECIPIENT], "verdicts": ["false", "misleading"], "languages": [],
            "publishers": [], "min_confidence": 0.5, "local_time": time(8), "zone": "UTC", "empty_days": "skip",
            "next_due": next_local_time(START, time(8), "UTC"), "now": START,
        }  # fmt: skip
        mailing.add_subscription(conn, values)


def _result(service: Service) -> DemoResult:
    with service.database.connection() as conn:
        mail = mailing.outbox(conn, limit=1)[0]
        claims = mailing.mailed_claims(conn, SUBSCRIPTION)
    rows = tuple((row.claim, row.rating_given, row.posts) for row in claims)
    return DemoResult(Path(mail.detail), mail.subject, rows, sum(row.posts for row in claims))


def _data(name: str) -> Path:
    return Path(str(resources.files("daemon.demo") / "data" / name))
