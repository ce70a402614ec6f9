"""Our boolean queries beside those that people wrote for the same claims (covmis). Nobody judged posts for them: only
the words are compared.

    PYTHONPATH=. python bench/hand_written.py --data ../shared/data

Prints both, claim by claim. Writes bench/results/hand_written.json: figures, and our queries by claim. The people's
stay where the data lies, since its terms are not stated. Words are compared as stems, without stop words.
"""

import argparse
import csv
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from bench.provenance import provenance, write_result
from domain.fact_check import Claim
from domain.ids import FactCheckId
from domain.query import Query, all_words_query
from models.evaluation.bootstrap import paired_interval
from models.evaluation.data_files import existing
from models.evaluation.rewriting.endpoints import READS
from models.evaluation.rewriting.learned_rows import QUERIES
from models.retrieval.analyser import ENGLISH
from models.retrieval.word_frequency import WordFrequency
from models.rewriting import boolean_baselines as plain
from models.rewriting.learned.boolean import LearnedBoolean
from models.rewriting.learned.outlook import Foreseer
from models.rewriting.learned.retention import Retention
from models.rewriting.words import content_words

FILE = Path("covmis/misinformation.csv")
OURS, FIRST, RAREST = "learned, three queries", "learned, the first query", "rarest 3"
SEED = 0
_GROUP = re.compile(r"\(([^)]*)\)|(\S+)")
_MOST_ADDED = 15  # words, listed

Stems = frozenset[str]
Ask = Callable[[Claim], Sequence[Query]]


@dataclass(frozen=True, slots=True)
class Written:
    """A claim with a person's query: each group is what must occur, by any of its alternatives."""

    claim: Claim
    keywords: str
    groups: tuple[tuple[Stems, ...], ...]

    @property
    def words(self) -> Stems:
        return frozenset().union(*(words for group in self.groups for words in group))

    @property
    def of_claim(self) -> Stems:
        return stems(self.claim.text)


def stems(text: str) -> Stems:
    return frozenset(ENGLISH(text))


def words_of(queries: Sequence[Query]) -> Stems:
    return frozenset().union(*(stems(term.text) for query in queries for group in query.groups for term in group))


def read_written(path: Path) -> dict[str, Written]:
    """By the claim's id."""
    with existing(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        row["mid"]: Written(Claim(FactCheckId(0), row["mis"], "en"), row["keywords"], groups_of(row["keywords"]))
        for row in rows
    }


def groups_of(keywords: str) -> tuple[tuple[Stems, ...], ...]:
    """`masks (test OR tests)` → two groups, of which the second has two alternatives. Stop words ask for nothing."""
    groups = []
    for alternatives, word in _GROUP.findall(keywords):
        each = tuple(found for part in re.split(r"\bOR\b", alternatives or word) if (found := stems(part)))
        if each:
            groups.append(each)
    return tuple(groups)


def askers() -> dict[str, Ask]:
    language = WordFrequency("en")
    learned = LearnedBoolean(Foreseer(Retention.load(), language), QUERIES, READS / QUERIES)

    def together(claim: Claim, words: int) -> list[Query]:
        return plain.rarest_together(claim, language, words)

    return {
        OURS: learned.plan,
        FIRST: lambda claim: learned.plan(claim)[:1],
        "rarest 2": lambda claim: together(claim, 2),
        RAREST: lambda claim: together(claim, 3),
        "triples of the rarest 4": lambda claim: plain.triples_of_four(claim, language),
        "all content words": lambda claim: [
            all_words_query(tuple(content_words(claim.text, "en")), policy="content_words")
        ],
    }


def of_people(written: Sequence[Written]) -> dict[str, Any]:
    """What people's queries are like, and what they hold that the claim does not."""
    groups = [(group, each) for each in written for group in each.groups]
    added = Counter(word for each in written for word in each.words - each.of_claim)
    known = [any(words <= each.of_claim for words in group) for group, each in groups]
    return {
        "groups_a_query": round(len(groups) / len(written), 2),
        "words_a_query": round(mean(len(each.words) for each in written), 2),
        "queries_with_alternatives": sum(any(len(group) > 1 for group in each.groups) for each in written),
        "share_of_words_in_claim": _share(sum(len(each.words & each.of_claim) for each in written), written),
        "share_of_groups_met_by_claim": round(mean(known), 3),
        "queries_that_the_claim_itself_matches": sum(
            all(any(words <= each.of_claim for words in group) for group in each.groups) for each in written
        ),
        "queries_with_a_word_not_in_claim": sum(bool(each.words - each.of_claim) for each in written),
        "added_as_an_alternative": round(mean(_as_alternative(each, word) for each, word in _additions(written)), 3),
        "added_most": dict(added.most_common(_MOST_ADDED)),
    }


def _share(count: int, written: Sequence[Written]) -> float:
    return round(count / sum(len(each.words) for each in written), 3)


def _additions(written: Sequence[Written]) -> list[tuple[Written, str]]:
    return [(each, word) for each in written for word in sorted(each.words - each.of_claim)]


def _as_alternative(each: Written, word: str) -> bool:
    """Whether the word widens a group that the claim's own words meet as well."""
    groups = [group for group in each.groups if any(word in words for words in group)]
    return all(any(words <= each.of_claim for words in group) for group in groups)


def beside(written: Mapping[str, Written], asked: Mapping[str, Sequence[Query]]) -> dict[str, Any]:
    """How far the words of a row's queries are those that people chose; means over the claims."""
    pairs = [(words_of(asked[claim]), each) for claim, each in written.items()]
    lengths = [len(words_of([query])) for queries in asked.values() for query in queries]
    shared = overlaps(written, asked)
    return {
        "queries_a_claim": round(mean(len(queries) for queries in asked.values()), 2),
        "words_a_query": round(mean(lengths), 2),
        "precision": round(mean(shared["precision"].values()), 3),
        "recall": round(mean(shared["recall"].values()), 3),
        "recall_of_their_words_in_claim": round(
            mean(_part(ours & each.words, each.words & each.of_claim) for ours, each in pairs), 3
        ),
        "wider_than_theirs": sum(
            any(_is_wider(query, each) for query in asked[claim]) for claim, each in written.items()
        ),
    }


def overlaps(written: Mapping[str, Written], asked: Mapping[str, Sequence[Query]]) -> dict[str, dict[str, float]]:
    """By claim: which part of our words are people's, and which part of people's are ours."""
    pairs = {claim: (words_of(asked[claim]), each.words) for claim, each in written.items()}
    return {
        "precision": {claim: _part(ours & theirs, ours) for claim, (ours, theirs) in pairs.items()},
        "recall": {claim: _part(ours & theirs, theirs) for claim, (ours, theirs) in pairs.items()},
    }


def gains(written: Mapping[str, Written], asked: Mapping[str, Mapping[str, Sequence[Query]]]) -> dict[str, list[float]]:
    """95 % intervals of what the first learned query has over the three rarest words, which are as many."""
    ours, plainest = (overlaps(written, asked[row]) for row in (FIRST, RAREST))
    intervals = {name: paired_interval(ours[name], plainest[name], seed=SEED) for name in ours}
    return {name: [round(interval.low, 3), round(interval.high, 3)] for name, interval in intervals.items()}


def _part(of: Set[str], whole: Set[str]) -> float:
    return len(of) / len(whole) if whole else 0.0


def _is_wider(query: Query, each: Written) -> bool:
    """Whether it finds all that the person's query finds: every word of it is one that must occur there."""
    required = frozenset().union(*(group[0] for group in each.groups if len(group) == 1))
    return words_of([query]) <= required


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    path: Path = parser.parse_args().data / FILE
    written = read_written(path)
    asked = {row: {id_: ask(each.claim) for id_, each in written.items()} for row, ask in askers().items()}
    for id_, each in written.items():
        print(f"{id_:>5}  {each.keywords}\n       {' | '.join(map(str, asked[OURS][id_]))}")
    rows = {row: beside(written, queries) for row, queries in asked.items()}
    people = of_people(list(written.values()))
    for name, figures in {"people": people, **rows}.items():
        print(name, figures)
    ours = {id_: [str(query) for query in queries] for id_, queries in asked[OURS].items()}
    over = {"over": RAREST, **gains(written, asked)}
    print(over)
    figures = {"claims": len(written), "people": people, "rows": rows, f"ci95 of {FIRST}": over}
    print(write_result("hand_written", figures | provenance([path], SEED) | {"queries": ours}))


if __name__ == "__main__":
    main()
