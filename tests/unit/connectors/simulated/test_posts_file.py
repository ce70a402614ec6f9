import csv
import gzip
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from connectors.simulated import posts_file
from connectors.simulated.posts_file import read_posts
from domain.errors import BadInput
from domain.post import Post, Reach

FULL = {
    "id": "7", "text": "Tap water &amp; chips https://fc.example/a/42.", "created_at": "2026-11-02T10:00:00+02:00",
    "author": "somebody", "url": "https://social.example/p/7", "platform": "demo", "lang": "pt-BR", "likes": 3,
    "reposts": 1, "replies": 0, "views": 900,
}  # fmt: skip
AS_POST = Post(
    platform="demo", platform_id="7", text="Tap water & chips https://fc.example/a/42.",
    created_at=datetime(2026, 11, 2, 8, tzinfo=UTC), url="https://social.example/p/7", author="0030a50ab1508df9",
    links=("https://fc.example/a/42", "https://other.example/x"), language="pt", reach=Reach(3, 1, 0, 900),
)  # fmt: skip


def jsonl(folder: Path, *rows: object) -> Path:
    """Records as JSON lines; a string stands as it is."""
    path = folder / "posts.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def row(id_: object = "1", **fields: object) -> dict[str, object]:
    return {"id": id_, "text": "tap water", "created_at": "2026-11-02T10:00:00Z"} | fields


def as_csv(*rows: dict[str, object]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def test_all_fields_of_jsonl_are_read(tmp_path: Path) -> None:
    path = jsonl(tmp_path, FULL | {"links": ["https://other.example/x", "https://fc.example/a/42"], "colour": "blue"})
    assert read_posts(path, salt="pepper").posts == (AS_POST,)


def test_all_fields_of_csv_are_read(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_text(as_csv(FULL | {"links": "https://other.example/x", "colour": "blue"}), "utf-8")
    assert read_posts(path, salt="pepper").posts == (AS_POST,)


@pytest.mark.parametrize("name", ["posts.jsonl.gz", "posts.ndjson.gz", "POSTS.JSONL.GZ"])
def test_gzip_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(json.dumps(row()).encode()))
    assert [post.platform_id for post in read_posts(path, salt="s").posts] == ["1"]


def test_a_byte_order_mark_blank_lines_and_dos_line_ends_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_bytes(b"\xef\xbb\xbfid,text,created_at\r\n\r\n1,tap water,2026-11-02\r\n\r\n")
    read = read_posts(path, salt="s")
    assert [(post.platform_id, post.text) for post in read.posts] == [("1", "tap water")]
    assert read.notices == ()


def test_a_csv_text_may_hold_commas_quotes_and_line_breaks(tmp_path: Path) -> None:
    text = 'He said: "tap water,\nbanned"'
    path = tmp_path / "posts.csv"
    path.write_text(as_csv(row(text=text), row("2")), "utf-8")
    assert {post.text for post in read_posts(path, salt="s").posts} == {text, "tap water"}


def test_only_id_text_and_date_are_needed(tmp_path: Path) -> None:
    (post,) = read_posts(jsonl(tmp_path, row(17)), salt="s").posts
    assert post == Post("file", "17", "tap water", datetime(2026, 11, 2, 10, tzinfo=UTC))


def test_posts_come_in_order_of_creation(tmp_path: Path) -> None:
    dates = {"a": "2026-11-03", "b": "2026-11-01T23:00:00-03:00", "c": "2026-11-02T01:59:59Z", "d": "2026-11-03"}
    path = jsonl(tmp_path, *(row(id_, created_at=date) for id_, date in reversed(dates.items())))
    assert [post.platform_id for post in read_posts(path, salt="s").posts] == ["c", "b", "a", "d"]


def test_an_author_is_known_by_a_pseudonym_that_depends_on_the_salt(tmp_path: Path) -> None:
    path = jsonl(tmp_path, row("1", author="somebody"), row("2", author="somebody"), row("3", author="else"))
    authors = [post.author for post in read_posts(path, salt="pepper").posts]
    assert authors[0] == authors[1] != authors[2]
    assert "somebody" not in str(authors)
    assert len(str(authors[0])) == 16
    assert read_posts(path, salt="sugar").posts[0].author != authors[0]


def test_bad_records_become_notices_with_row_and_reason_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path, row("1"), "{broken", "[1, 2]", '"text"', row(None), row(""), row("3", text=None),
        row("4", text=["a"]), row("5", created_at=None), row("6", created_at="last week"),
        row("7", created_at="0001-01-01T00:00:00+14:00"), row(True), row("8"),
    )  # fmt: skip
    read = read_posts(path, salt="s")
    assert [post.platform_id for post in read.posts] == ["1", "8"]
    assert [notice.removeprefix("posts.jsonl ") for notice in read.notices] == [
        "row 2: left out, it is no JSON object",
        "row 3: left out, it is no JSON object",
        "row 4: left out, it is no JSON object",
        "row 5: left out, it has no id",
        "row 6: left out, its id is empty",
        "row 7: left out, it has no text",
        "row 8: left out, its text is no text",
        "row 9: left out, it has no created_at",
        "row 10: left out, its date is no ISO 8601 date: 'last week'",
        "row 11: left out, its date cannot be: '0001-01-01T00:00:00+14:00'",
        "row 12: left out, its id is no text",
    ]


def test_bad_rows_of_csv_become_notices_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    rows = [
        "id,text,created_at",
        "1,tap water,2026-11-02",
        "2,one, two and three,2026-11-02",
        "3",
        '4,"a" b,2026-11-02',
    ]
    path.write_text("\n".join([*rows, "5,tap water,2026-11-02", ""]))
    read = read_posts(path, salt="s")
    assert [post.platform_id for post in read.posts] == ["1", "5"]
    assert [notice.split(",")[0] for notice in read.notices] == [f"posts.csv row {n}: left out" for n in (3, 4, 5)]
    assert "more fields than the first line" in read.notices[0]


def test_nuls_are_taken_out_and_counted_and_the_neighbours_are_unaffected(tmp_path: Path) -> None:
    bad = row("2", text="ab\0cd", url="https://social.example/\0p", author="x\0y", meta={"k": "x\0y"})
    read = read_posts(jsonl(tmp_path, row("1"), bad, row("3")), salt="s")
    assert [post.text for post in read.posts] == ["tap water", "abcd", "tap water"]
    assert read.posts[1].url == "https://social.example/p"
    assert read.notices == ("posts.jsonl row 2: NUL characters taken out",)


def test_a_lone_surrogate_does_not_stop_the_file(tmp_path: Path) -> None:
    line = r'{"id": "1", "text": "a\ud83db", "author": "x\ud83d", "created_at": "2026-11-02"}'
    assert read_posts(jsonl(tmp_path, line), salt="s").posts[0].text == "ab"


def test_posts_without_words_are_posts(tmp_path: Path) -> None:
    texts = ["", "   ", "🚰🚰🚰", "@a @b", "#…"]
    path = jsonl(tmp_path, *(row(str(i), text=text) for i, text in enumerate(texts)))
    assert [post.text for post in read_posts(path, salt="s").posts] == ["", "", "🚰🚰🚰", "@a @b", "#…"]


def test_an_id_that_comes_again_replaces_the_earlier_post_and_is_told(tmp_path: Path) -> None:
    read = read_posts(jsonl(tmp_path, row("1", text="first"), row("1", text="second")), salt="s")
    assert [post.text for post in read.posts] == ["second"]
    assert read.notices == ("posts.jsonl row 2: replaces an earlier post of the same id",)


@pytest.mark.parametrize("given", [-1, "many", None, float("nan"), float("inf"), 10**30])
def test_a_count_that_is_none_is_unknown(tmp_path: Path, given: object) -> None:
    assert read_posts(jsonl(tmp_path, row(likes=given)), salt="s").posts[0].reach == Reach()


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("posts.jsonl", b"", "it is empty"),
        ("posts.jsonl", b"\n\n", "it is empty"),
        ("posts.jsonl", b'{"a": 1}\n', "no usable post .*row 1: left out, it has no text"),
        ("posts.jsonl", b'{"id": 1}\n\xff\xfe\n', "row 2 is not UTF-8"),
        ("posts.jsonl", "\ufeff{}".encode("utf-16"), "row 1 is not UTF-8"),
        ("posts.csv", b"", "no column 'id'"),
        ("posts.csv", b"id,created_at\n1,2\n", "no column 'text'"),
        ("posts.csv", b'"id"x,text\n', "does not name the columns"),
        ("posts.csv", b"id,text,created_at\n", "it is empty"),
        ("posts.jsonl.gz", b"no gzip", "cannot be read"),
        ("posts.jsonl.gz", gzip.compress(b'{"id": 1}\n' * 99, mtime=0)[:-9], "cannot be read"),
        ("posts.txt", b"hello", r"\.jsonl or \.csv"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, complaint: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInput, match=complaint) as refused:
        read_posts(path, salt="s")
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("missing.jsonl", "folder.jsonl"):
        with pytest.raises(BadInput, match=name):
            read_posts(tmp_path / name, salt="s")


def test_a_line_without_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posts_file, "LONGEST_LINE", 1_000_000)
    path = jsonl(tmp_path, row("1"), row("2", text="x" * 2_000_000))
    with pytest.raises(BadInput, match="row 2 is longer than 1 MB"):
        read_posts(path, salt="s")


@pytest.mark.parametrize("field", ["url", "platform", "author"])
def test_a_list_or_object_in_the_place_of_text_is_not_taken_for_it(tmp_path: Path, field: str) -> None:
    read = read_posts(jsonl(tmp_path, row("1"), row("2", **{field: ["a"]}), row("3", **{field: {"a": 1}})), salt="s")
    assert [post.platform_id for post in read.posts] == ["1"]
    assert read.notices[0] == f"posts.jsonl row 2: left out, its {field} is no text"
