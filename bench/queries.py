"""How every platform's queries come out of random and hostile texts: how many are illegal, and how long it takes.

    python bench/queries.py [--texts 100000]

Each text is compiled for each platform and read again by an independent parser of the platform's grammar (the one that
the tests' replay servers use). Writes bench/results/queries.json.
"""

import argparse
import random
import time

from bench.provenance import provenance, write_result
from connectors.bluesky import connector as bluesky
from connectors.bluesky import stream
from connectors.mastodon import connector as mastodon
from connectors.platform_query import Grammar, all_words, compile_boolean
from connectors.reddit import connector as reddit
from domain.query import EndpointKind, Query, Term, text_query
from tests.replay.grammars import BLUESKY, MASTODON, REDDIT, STREAM, Accepts, IllegalQuery, X

SEED = 0
NO_RETWEETS = " -is:retweet"
PLATFORMS: dict[str, tuple[Grammar, str, Accepts]] = {
    "x": (Grammar(512 - len(NO_RETWEETS)), NO_RETWEETS, X),
    "reddit": (reddit._GRAMMAR, "", REDDIT),
    "bluesky": (bluesky._GRAMMAR, "", BLUESKY),
    "bluesky-stream": (stream._GRAMMAR, "", STREAM),
    "mastodon": (mastodon._GRAMMAR, "", MASTODON),
}
WORDS = (
    'AND OR NOT and or not NEAR near AND( )OR -not --water -is:retweet from:someone to:x lang:en title:water url:"x" '
    "#water @who $TSLA $5 100% \"quoted\" '' ” « (map) ) ( )) \\ / ~x^2 [a TO z] {b} *: a* ?b "
    "water's l’eau don't naïve "
    "https://fc.example/a?b=c&d 5.5 1,000 12:30 covid-19 "
    "مياه الشرب 水道水は पानी น้ำ вода 🚰 👩‍👩‍👧 ﷽ ‏ ‮ \u200b \u0301 "
    "\0 \ud800 \uffff ΑΒ İ ß ǆ ½ Ⅷ ١٢٣"
).split(" ")


def hostile(generator: random.Random) -> str:
    """A text of operators, scripts, signs and random characters."""
    parts = []
    for _ in range(generator.choice([1, 2, 5, 12, 40, 400] if generator.random() < 0.02 else [1, 2, 5, 12, 40])):
        if generator.random() < 0.6:
            parts.append(generator.choice(WORDS))
        else:
            parts.append("".join(chr(_point(generator)) for _ in range(generator.randint(1, 12))))
    return generator.choice(["", " ", "  ", "\n"]).join(parts) if generator.random() < 0.1 else " ".join(parts)


def _point(generator: random.Random) -> int:
    return generator.randrange(*generator.choice([(0x20, 0x7F), (0x20, 0x2FF), (0x300, 0x3000), (0, 0x110000)]))


def query_of(text: str, generator: random.Random) -> Query:
    """The words of a text, some of them alternatives of one another, some terms of several words."""
    words = text.split(" ")
    groups = []
    while words:
        size = generator.choice([1, 1, 1, 2, 3])
        groups.append(tuple(Term(word) for word in words[:size]))
        words = words[size:]
    return Query(EndpointKind.BOOLEAN, tuple(groups), "bench")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=100_000)
    number = parser.parse_args().texts
    generator = random.Random(SEED)
    queries = [query_of(hostile(generator), generator) for _ in range(number)]
    rows = {name: _measure(queries, *platform) for name, platform in PLATFORMS.items()}
    rows["elasticsearch"] = _measure_words(queries)
    write_result("queries", provenance([], seed=SEED) | {"texts": number, "platforms": rows})
    for name, row in rows.items():
        print(name, row)


def _measure(queries: list[Query], grammar: Grammar, suffix: str, accepts: Accepts) -> dict[str, float]:
    start = time.perf_counter()
    compiled = [one.syntax + suffix for query in queries for one in compile_boolean(query, grammar)]
    seconds = time.perf_counter() - start
    illegal = []
    for syntax in compiled:
        try:
            accepts.parse(syntax)
        except IllegalQuery as exc:
            illegal.append(f"{exc}: {syntax!r}")
    for example in illegal[:5]:
        print(example)
    return {
        "queries": len(compiled),
        "illegal": len(illegal),
        "microseconds_a_text": round(1e6 * seconds / len(queries), 1),
    }


def _measure_words(queries: list[Query]) -> dict[str, float]:
    """Elasticsearch takes words in a match query, which knows no operator: what counts is their number."""
    start = time.perf_counter()
    words = [all_words(text_query(EndpointKind.RANKED, str(query), policy="bench"), 1024)[0] for query in queries]
    seconds = time.perf_counter() - start
    illegal = sum(len(found) > 1024 for found in words)
    return _row(sum(map(bool, words)), illegal, seconds / len(queries))


def _row(queries: int, illegal: int, seconds: float) -> dict[str, float]:
    return {"queries": queries, "illegal": illegal, "microseconds_a_text": round(1e6 * seconds, 1)}


if __name__ == "__main__":
    main()
