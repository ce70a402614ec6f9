"""The job queue: what a tick finds due becomes jobs in the same transaction, and workers do them.

Truth is in Postgres: a job that runs twice, late or after a restart finds what is still to be done and does only that.
"""

import asyncio
import logging
import signal
from contextlib import suppress

import psycopg
from procrastinate import App, PsycopgConnector, exceptions

from daemon import digest, keeping, outbox, pipeline, preparation
from daemon.delivery import Postman
from daemon.schedule import retry_delay
from daemon.service import Service
from daemon.store import fact_checks, mailing, spending, surroundings, watches

logger = logging.getLogger(__name__)

_WATCHES_PER_TICK = 1000


class Jobs:
    """The queue's tasks bound to one service. `tick` makes jobs; `work` does them."""

    def __init__(self, service: Service, postman: Postman) -> None:
        self._service = service
        self._postman = postman
        self._app = App(connector=PsycopgConnector(conninfo=service.database.dsn))
        # Jobs are put in through an app of its own: the other one may be open for the worker's event loop.
        self._queue = App(connector=PsycopgConnector(conninfo=service.database.dsn))
        self._app.task(name="prepare")(self._prepare)
        self._app.task(name="send outbox")(self._send_outbox)
        self._app.task(name="search watch")(self._search_watch)
        self._app.task(name="make digest")(self._make_digest)
        self._app.task(name="keep house")(self._keep_house)

    def tick(self) -> int:
        """Put whatever is due into the queue, each thing once, also when several processes tick; jobs made."""
        self._free_stalled()
        with self._service.database.connection() as conn:
            return self._defer_due(conn) if surroundings.may_tick(conn) else 0

    def _defer_due(self, conn: psycopg.Connection) -> int:
        now, made = self._service.clock(), 0
        spending.forget_charges(conn, now=now)
        if fact_checks.counts(conn)["unprepared"]:
            made += self._defer("prepare", conn, "prepare")
        due = watches.due(conn, now=now, limit=_WATCHES_PER_TICK) if self._service.connectors else []
        for watch in due:
            made += self._defer("search watch", conn, f"watch-{watch}", watch=watch)
        for subscription in mailing.due_subscriptions(conn, now):
            made += self._defer("make digest", conn, f"digest-{subscription}", subscription=subscription)
        if keeping.is_due(self._service, conn):
            made += self._defer("keep house", conn, "keep house")
        if mailing.any_pending(conn, now):
            made += self._defer("send outbox", conn, "outbox")
        return made

    def work(self, *, until_empty: bool) -> None:
        """Do jobs: all that are there, or for ever, until SIGTERM or SIGINT, which let the job in hand finish."""
        asyncio.run(self._work(until_empty=until_empty))

    async def _work(self, *, until_empty: bool) -> None:
        async with self._app.open_async():
            worker = asyncio.create_task(
                self._app.run_worker_async(
                    wait=not until_empty,
                    install_signal_handlers=False,  # the library's end the process by the signal: no exit code of ours
                    delete_jobs="successful",
                    fetch_job_polling_interval=2.0,  # seconds
                )
            )
            if not until_empty:
                for number in (signal.SIGTERM, signal.SIGINT):
                    asyncio.get_running_loop().add_signal_handler(number, worker.cancel)
            with suppress(asyncio.CancelledError):
                await worker

    def _prepare(self) -> None:
        preparation.prepare(self._service)

    def _send_outbox(self) -> None:
        outbox.send_outbox(self._service, self._postman)

    def _keep_house(self) -> None:
        keeping.keep_house(self._service)

    def _search_watch(self, *, watch: int) -> None:
        try:
            pipeline.search_watch(self._service, watch)
        except Exception:
            # Later, before it is reported: one claim that breaks must not be tried in a loop nor hold up the rest.
            with self._service.database.connection() as conn:
                delay = retry_delay(watches.failures(conn, watch))
                watches.postpone(conn, watch, next_due=self._service.clock() + delay)
            raise

    def _make_digest(self, *, subscription: int) -> None:
        digest.make_digest(self._service, subscription)
        self._send_outbox()

    def _free_stalled(self) -> None:
        """Give jobs back whose worker is gone: its row is missing, or its heartbeat is old."""
        asyncio.run(self._free_stalled_async())

    async def _free_stalled_async(self) -> None:
        # An app of its own: a worker may have the other one open, in another thread and event loop.
        connector = PsycopgConnector(conninfo=self._service.database.dsn, min_size=1, max_size=1)
        async with App(connector=connector).open_async() as app:
            age = self._service.settings.service.stalled_after_s
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=age):
                logger.warning("job recovered", extra={"action": "recover", "task": job.task_name, "job": job.id})
                await app.job_manager.retry_job(job)

    def _defer(self, task: str, conn: psycopg.Connection, key: str, **arguments: int) -> int:
        """One job of a kind at a time: `lock` keeps two from running at once, `queueing_lock` from waiting so."""
        try:
            with conn.transaction():
                self._queue.configure_task(task, connection=conn, lock=key, queueing_lock=key).defer(**arguments)
        except exceptions.AlreadyEnqueued:
            return 0
        return 1
