import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import Stemmer
from bm25s.stopwords import STOPWORDS_EN

from domain.errors import BadInput
from models.evaluation.collections import ClaimCollection
from models.evaluation.evidence_collections import load_discovery_train, load_fever, load_fm2, load_pooled
from models.evaluation.metrics import average_precision, mean, per_query, precision
from models.retrieval.bm25 import BM25Index

DATA = Path(os.environ.get("CLAIMWATCH_DATA", Path(__file__).parents[5] / "shared" / "data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs the research data: set CLAIMWATCH_DATA")


def write(path: Path, *rows: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def fever_claim(number: int, split: str, evidence: str | None) -> dict[str, Any]:
    row = {"id": number, "claim": f"claim {number}", "label": "SUPPORTS", "split": split}
    return row if evidence is None else row | {"evidence_text": evidence}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two rows of everything."""
    fever, fm2 = tmp_path / "fever", tmp_path / "fool_me_twice"
    write(fever / "corpus_evidence_passages.jsonl.gz", {"_id": "e0", "text": "snow"}, {"_id": "e1", "text": "rain"})
    write(
        fever / "fever_shared_dev_with_evidence_text.jsonl.gz",
        fever_claim(1, "paper_dev", "rain"),
        fever_claim(2, "paper_test", "snow"),
        fever_claim(3, "paper_dev", None),
    )
    gold, other = {"text": "fog", "section_header": "A"}, {"text": "hail", "section_header": "B"}
    write(fm2 / "dev.jsonl.gz", {"id": "a", "text": "foggy", "gold_evidence": [gold], "retrieved_evidence": [other]})
    write(fm2 / "test.jsonl.gz", {"id": "b", "text": "icy", "gold_evidence": [other], "retrieved_evidence": [gold]})
    write(tmp_path / "covid_fact" / "COVIDFACT_dataset.jsonl.gz", {"evidence": ["mist", "dew"]}, {"evidence": ["dew"]})
    write(tmp_path / "feverous_s" / "dev.json.gz", [{"evidence": "Page\tfrost\nPage\tsleet"}])
    return tmp_path


def test_fevers_claims_have_their_passage_in_the_pool(data: Path) -> None:
    collection = load_fever(data, "paper_dev")
    assert collection.claims == {"1": "claim 1"}
    assert [collection.posts[post] for post in collection.qrels["1"]] == ["rain"]
    assert collection.posts == load_pooled(data)


def test_a_file_that_was_cut_off_is_named(data: Path) -> None:
    path = data / "fool_me_twice" / "dev.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(BadInput, match=r"dev\.jsonl\.gz is cut off or damaged .*fetch it again"):
        load_fm2(data, "dev")


def test_the_pool_holds_each_text_of_a_set_once(data: Path) -> None:
    texts = ["snow", "rain", "fog", "hail", "mist", "dew", "Page\tfrost", "Page\tsleet"]
    assert list(load_pooled(data).values()) == texts


def test_fm2s_claims_share_the_sentences_of_all(data: Path) -> None:
    dev, test = load_fm2(data, "dev"), load_fm2(data, "test")
    assert dev.claims == {"a": "foggy"}
    assert dev.posts == test.posts
    assert [[c.posts[post] for post in posts] for c in (dev, test) for posts in c.qrels.values()] == [["fog"], ["hail"]]


def test_a_split_that_is_not_there_is_named(data: Path) -> None:
    with pytest.raises(BadInput, match="train"):
        load_fm2(data, "train")


def test_a_distractor_whose_article_is_the_claims_is_dropped(tmp_path: Path) -> None:
    discovery, tweets = tmp_path / "discovery", tmp_path / "factchecktweet"
    posts = ("train:1", "fct-dev:2e+17", "fct-dev:3e+17")
    write(discovery / "posts.jsonl.gz", *({"id": post, "text": post} for post in posts))
    (discovery / "train.claims.tsv").write_text("v1\tA lake is green\n")
    (discovery / "train.qrels.tsv").write_text("v1\t0\ttrain:1\t1\n")
    write(tmp_path / "checkthat2022" / "vclaims.jsonl.gz", {"vclaim_id": "v1", "title": "Is ‘Green Lake’ Real?"})
    titles = {"f1": "Is 'green lake' real", "f2": "Another"}
    write(tweets / "articles.jsonl.gz", *({"vclaim_id": id_, "title": title} for id_, title in titles.items()))
    for split in ("train", "dev", "test"):
        (tweets / f"{split}.qrels.tsv").write_text("2e+17\t0\tf1\t1\n3e+17\t0\tf2\t1\n" if split == "dev" else "")
    assert list(load_discovery_train(tmp_path).posts) == ["train:1", "fct-dev:3e+17"]


def published_bm25(collections: list[ClaimCollection]) -> tuple[float, float]:
    """Precision at 1 and MAP@5 over the claims of all, by the words that the published figures were made with: bm25s's
    short list of stop words, and no words of one letter."""
    word, stem = re.compile(r"\b\w\w+\b"), Stemmer.Stemmer("english").stemWords
    kept = {w for w in STOPWORDS_EN}
    index = BM25Index(lambda text: stem([w for w in word.findall(text.lower()) if w not in kept]))
    index.add(list(collections[0].posts), list(collections[0].posts.values()))
    claims = {id_: text for collection in collections for id_, text in collection.claims.items()}
    qrels = {id_: posts for collection in collections for id_, posts in collection.qrels.items()}
    run = dict(zip(claims, index.search_many(list(claims.values()), 5, threads=2), strict=True))
    first, fifth = (mean(per_query(run, qrels, metric)) for metric in (precision(1), average_precision(5)))
    return first, fifth


@needs_data
def test_bm25_on_fever_is_as_published() -> None:
    collections = [load_fever(DATA, split) for split in ("paper_dev", "paper_test")]
    assert len(collections[0].posts) == 29_876
    assert published_bm25(collections) == pytest.approx((0.485, 0.613), abs=0.002)


@needs_data
def test_bm25_on_fm2_is_as_published() -> None:
    collections = [load_fm2(DATA, split) for split in ("dev", "test")]
    assert [len(collection.claims) for collection in collections] == [1169, 1380]
    assert published_bm25(collections) == pytest.approx((0.130, 0.207), abs=0.002)


@needs_data
def test_discovery_loses_the_unjudged_posts_of_its_training_claims() -> None:
    assert len(load_discovery_train(DATA).posts) == 25_224 - 117
