from pathlib import Path

import pytest

from domain.errors import BadInput
from domain.search_index import Hit
from models.evaluation.qrels import read_qrels
from models.evaluation.runs import ranked, read_run, write_run


def test_equal_scores_are_ordered_by_id() -> None:
    assert ranked([("b", 1.0), ("c", 2.0), ("a", 1.0)]) == [Hit("c", 2.0), Hit("a", 1.0), Hit("b", 1.0)]


def test_a_run_comes_back_as_it_was_written(tmp_path: Path) -> None:
    run = {"q2": ranked([("a", 1 / 3), ("b", 0.1)]), "q1": ranked([("a", -1e-9)])}
    write_run(tmp_path / "runs" / "x.trec", run, name="bm25")
    assert read_run(tmp_path / "runs" / "x.trec") == run


def test_a_run_file_holds_the_six_columns_of_trec(tmp_path: Path) -> None:
    write_run(tmp_path / "x.trec", {"q": [Hit("d", 0.5)]}, name="knn")
    assert (tmp_path / "x.trec").read_text() == "q Q0 d 1 0.5 knn\n"


def test_a_run_that_cannot_be_written_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="two words"):
        write_run(tmp_path / "x.trec", {"q": [Hit("d", 1.0), Hit("two words", 0.5)]}, name="knn")
    assert not (tmp_path / "x.trec").exists()


def test_a_broken_run_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.trec").write_text("q Q0 d 1 0.5 knn\nq Q0 d\n")
    with pytest.raises(BadInput, match="line 2"):
        read_run(tmp_path / "x.trec")


def test_qrels_keep_only_what_is_relevant(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a 1\nq\t0\tb\t0\n\nq 0 c 2\n")
    assert read_qrels(tmp_path / "qrels") == {"q": {"a", "c"}}


def test_a_broken_judgement_is_named(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b yes\n")
    with pytest.raises(BadInput, match="line 2"):
        read_qrels(tmp_path / "qrels")
