from pathlib import Path

import pytest

from domain.errors import BadInput
from domain.query import EndpointKind, Query, Term, all_words_query, text_query
from models.evaluation.rewriting.query_files import QueryFile, query_text, read_queries, write_queries, written


def ranked(*terms: tuple[str, float]) -> Query:
    return Query(EndpointKind.RANKED, tuple((Term(word, weight),) for word, weight in terms), "any")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    texts = written({"é 1": [text_query(EndpointKind.DENSE, "Tap water, naïve", policy="any")], "2": []})
    groups = written({"3": [all_words_query(("tap", "water"), policy="any"), all_words_query(("lead",), policy="any")]})
    write_queries(tmp_path / "new" / "file.jsonl", texts | groups)
    assert read_queries(tmp_path / "new" / "file.jsonl") == {
        "é 1": ["Tap water, naïve"],
        "2": [],
        "3": [[["tap"], ["water"]], [["lead"]]],
    }


def test_words_are_repeated_by_weight_only_where_weights_differ_from_one() -> None:
    assert query_text(ranked(("tap", 1), ("water", 1))) == "tap water"
    said = query_text(ranked(("tap", 1), ("water", 0.5), ("in", 0.02), ("lead", 0.15)))
    assert said == " ".join(20 * ["tap"] + 10 * ["water"] + 3 * ["lead"])


def test_a_group_may_be_a_word(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text('{"claim": 7, "queries": [["tap", ["lead", "Pb"]]]}\n')
    assert read_queries(path) == {"7": [[["tap"], ["lead", "Pb"]]]}


@pytest.mark.parametrize("line", ["{", '{"claim": "1"}', '["1", "tap"]', '{"claim": "1", "queries": [2]}'])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text('{"claim": "0", "queries": []}\n' + line + "\n")
    with pytest.raises(BadInput, match="row 2"):
        read_queries(path)


def test_a_claim_has_one_line(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text('{"claim": "0", "queries": []}\n' * 2)
    with pytest.raises(BadInput, match="claim 0"):
        read_queries(path)


def test_the_rows_of_one_split_and_endpoint_are_found(tmp_path: Path) -> None:
    file = QueryFile("fm2", "test", EndpointKind.RANKED)
    others = QueryFile("fm2", "test", EndpointKind.DENSE), QueryFile("fm2", "dev", EndpointKind.RANKED)
    for path in (file.path(tmp_path, "rm3"), file.path(tmp_path, "dt.seed1"), *(o.path(tmp_path, "x") for o in others)):
        path.touch()
    assert file.path(tmp_path, "rm3").name == "fm2.test.ranked.rm3.jsonl"
    assert file.rows(tmp_path) == ["dt.seed1", "rm3"]
