"""The numbers a person on call looks at first."""

from datetime import datetime

import psycopg

from daemon.store import fact_checks, mailing, searches, surroundings, watches


def overview(conn: psycopg.Connection, now: datetime) -> dict[str, object]:
    """Names and counts, in the order of the pipeline."""
    watched = {f"watches {name}": count for name, count in watches.counts(conn, now).items()}
    mails = {f"mails {state}": count for state, count in mailing.outbox_counts(conn).items()}
    queued = {f"jobs {state}": count for state, count in surroundings.job_counts(conn).items()}
    return {**_spaced(fact_checks.counts(conn)), **watched, **searches.counts(conn), **queued, **mails}


def _spaced(counts: dict[str, int]) -> dict[str, int]:
    return {name.replace("_", "-"): count for name, count in counts.items()}
