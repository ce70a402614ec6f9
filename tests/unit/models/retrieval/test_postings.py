from models.retrieval.postings import TokenStore


def filled(**texts: str) -> TokenStore:
    store = TokenStore((1.0,))
    for id_, text in texts.items():
        store.add(id_, [text.split()])
    return store


def test_each_term_lists_its_texts_by_id_with_how_often_it_is_there() -> None:
    postings = filled(b="sea chip sea", a="chip", c="").postings()
    assert postings.ids == ("a", "b", "c")
    assert postings.of("chip").tolist() == [0, 1]
    assert postings.of("sea").tolist() == [1]
    assert postings.of("unheard").tolist() == []
    assert postings.frequencies[postings.starts[postings.terms["sea"]]] == 2
    assert postings.lengths.tolist() == [1, 3, 0]


def test_words_of_removed_texts_are_forgotten() -> None:
    store = filled(a="old words", b="chip")
    store.remove("a")
    store.remove("never there")
    postings = store.postings()
    assert list(postings.terms) == ["chip"]
    assert postings.of("chip").tolist() == [0]


def test_an_empty_store_has_empty_postings() -> None:
    postings = TokenStore((1.0, 0.5)).postings()
    assert (postings.ids, postings.of("chip").tolist(), postings.lengths.tolist()) == ((), [], [])
