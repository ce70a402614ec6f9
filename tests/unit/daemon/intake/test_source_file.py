"""What is wrong with a file as a whole is said in one line, and no more of it is held than needed."""

import gzip
import json
import os
import threading
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from daemon.intake.reader import ReadOptions, read_fact_checks
from daemon.intake.record import FactCheckRecord
from daemon.intake.source_file import LONGEST_LINE
from domain.errors import BadInput
from tests.unit.daemon.intake.conftest import Take

GOOD = b'{"url": "https://fc.example/1", "claim": "It glows."}\n'


def refusal(path: Path, options: ReadOptions | None = None) -> str:
    with pytest.raises(BadInput) as caught:
        list(read_fact_checks(path, options or ReadOptions()))
    message = str(caught.value)
    assert str(path) in message or "--encoding" in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("ending", ["jsonl", "csv", "json", "html", "xml", "jsonl.gz", "txt"])
def test_an_empty_file_is_said_to_be_empty(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(gzip.compress(b"") if ending.endswith("gz") else b"")
    assert "is empty" in refusal(path)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "nowhere.csv")
    assert "Is a directory" in refusal(tmp_path)


@pytest.mark.parametrize("cut", [5, -5])
def test_a_packed_file_that_is_cut_off_is_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(GOOD * 1000)[:cut])
    assert "check the path and that the file is whole" in refusal(path)


@pytest.mark.parametrize("before", [0, 3, 700])
def test_a_wrong_encoding_is_told_with_byte_and_line(tmp_path: Path, before: int) -> None:
    path = tmp_path / "a.jsonl"
    longer = GOOD.replace(b"}", b', "body": "' + b"a" * 2000 + b'"}')
    start = b"\xef\xbb\xbf" + longer * before + b'{"claim": "caf'
    path.write_bytes(start + b'\xe9"}\n' + GOOD)
    message = refusal(path)
    assert f"byte {len(start)} (line {before + 1}, 0xe9) is no utf-8" in message
    assert "--encoding" in message
    claims = [
        r.claim for r in read_fact_checks(path, ReadOptions(encoding="latin-1")) if isinstance(r, FactCheckRecord)
    ]
    assert len(claims) == before + 1


def test_a_character_cut_off_at_the_end_is_a_wrong_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(GOOD + b'{"claim": "caf\xc3')
    assert "line 2" in refusal(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("written", "named"),
    [("utf-16", "utf-16"), ("utf-32", "utf-32"), ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be")],
)
def test_utf_16_and_32_are_recognised_and_read_when_named(take: Take, tmp_path: Path, written: str, named: str) -> None:
    data = "url,claim\r\nhttps://fc.example/1,Café\r\n".encode(written)
    (tmp_path / "a.csv").write_bytes(data)
    assert f"--encoding {named}" in refusal(tmp_path / "a.csv")
    assert take("b.csv", data, ReadOptions(encoding=named)).claims == ["Café"]


@pytest.mark.parametrize("encoding", ["klingon", "hex", "rot13"])
def test_an_encoding_that_is_none_is_refused(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    assert f"--encoding {encoding}: there is no such encoding" in refusal(
        tmp_path / "a.jsonl", ReadOptions(encoding=encoding)
    )


@pytest.mark.parametrize("encoding", ["utf-16", "undefined"])
def test_an_encoding_that_cannot_begin_so_is_refused(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.jsonl").write_bytes(GOOD)
    assert "a.jsonl is no" in (told := refusal(tmp_path / "a.jsonl", ReadOptions(encoding=encoding)))
    assert "--encoding" in told


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.jsonl.gz"])
def test_a_line_too_long_is_named_and_never_held_as_a_whole(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    first = b"claim\n" if name.endswith("csv") else GOOD
    with gzip.open(path, "wb", 1) if name.endswith("gz") else path.open("wb") as file:
        file.write(first)
        for _ in range(100):
            file.write(b"a" * 2**20)
    tracemalloc.start()
    try:
        message = refusal(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "line 2 is longer than 16 MiB" in message
    assert peak < 5 * LONGEST_LINE


def test_a_line_just_short_enough_is_read(take: Take) -> None:
    body = "a" * (LONGEST_LINE - 100)
    (record,) = take("a.jsonl", {"url": "https://fc.example/1", "claim": "It glows.", "body": body}).records
    assert record.body == body


def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(GOOD))
    writer.start()
    assert len(list(read_fact_checks(path, ReadOptions()))) == 1
    writer.join()


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (GOOD.decode() * 2, ["It glows."] * 2),
        (GOOD.decode(), ["It glows."]),
        ("[" + GOOD.decode() + "]", ["It glows."]),
        ("\ufeffurl;claim\nhttps://fc.example/1;It glows.\n", ["It glows."]),
    ],
)
def test_a_file_whose_name_says_nothing_is_known_by_how_it_begins(take: Take, text: str, claims: list[str]) -> None:
    assert take("export", text).claims == claims


def test_pages_and_feeds_are_told_apart_by_how_they_begin(take: Take, review: dict[str, object]) -> None:
    script = f'<script type="application/ld+json">{json.dumps(review)}</script>'
    assert take("export", f"\n<!DOCTYPE html>{script}").claims == ["The moon is hollow."]
    feed = f"<rss><channel><item><description><![CDATA[{json.dumps(review)}]]></description></item></channel></rss>"
    assert take("export", feed).claims == ["The moon is hollow."]


def test_a_file_that_is_nothing_known_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(b"PK\x03\x04 whatever")
    assert "what is it?" in refusal(tmp_path / "a.docx")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["jsonl", "csv", "json", "html", "xml", "txt"]), st.binary(max_size=200), st.booleans())
def test_no_bytes_do_more_than_refuse_the_file(tmp_path: Path, ending: str, data: bytes, begins_well: bool) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes((b"claim,url\n" if ending == "csv" else GOOD) * begins_well + data)
    try:
        list(read_fact_checks(path, ReadOptions(encoding="latin-1")))
    except BadInput as exc:
        assert len(str(exc).splitlines()) == 1
