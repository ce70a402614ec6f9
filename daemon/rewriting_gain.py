"""What rewriting gained: how each query differs from its claim, which posts the claim as it is would have missed."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from daemon.store.digest_rows import FoundMatch, RecordedQuery
from domain.fact_check import Claim
from domain.ids import FactCheckId
from domain.query import Arm, EndpointKind, Query
from models.retrieval.analyser import BOOLEAN
from models.retrieval.boolean import BooleanIndex
from models.rewriting.plain import ClaimAsItIs
from models.rewriting.words import content_words
from reports.view import Rewording

_EDIT = re.compile(r"(swap|add synonym|present simple|more|less) (.+?)(?: → (.+))?")  # as `str(Edit)` writes it


@dataclass(frozen=True, slots=True)
class Gain:
    """What is known of a match that an edited query found."""

    query_id: int
    rewording: Rewording
    claim_finds_it: bool | None  # the claim, sent as it is; None: cannot be told


def gains(matches: Iterable[FoundMatch], queries: Collection[RecordedQuery]) -> dict[int, Gain]:
    """By match: of those that a query of their own claim found, other than one that a person pinned."""
    known = {query.id: query for query in queries if query.arm != Arm.PINNED}
    of_claim: dict[int, list[tuple[FoundMatch, RecordedQuery]]] = defaultdict(list)
    for match in matches:
        query = known.get(match.query_id or 0)
        if query and query.fact_check_id == match.fact_check_id:
            of_claim[match.fact_check_id].append((match, query))
    return {match: gain for pairs in of_claim.values() for match, gain in _of_one_claim(pairs).items()}


def _of_one_claim(pairs: Sequence[tuple[FoundMatch, RecordedQuery]]) -> dict[int, Gain]:
    first = pairs[0][0]
    claim = Claim(FactCheckId(first.fact_check_id), first.claim, first.claim_language)
    queries = {query.id: query for _, query in pairs}
    rewordings = {id_: rewording(claim, query) for id_, query in queries.items()}
    finds = _claim_finds(claim, pairs, queries)
    return {
        match.match_id: Gain(query.id, rewordings[query.id], finds.get(match.match_id)) for match, query in pairs
    }  # fmt: skip


def _claim_finds(
    claim: Claim, pairs: Sequence[tuple[FoundMatch, RecordedQuery]], queries: Mapping[int, RecordedQuery]
) -> dict[int, bool]:
    """By match, as a boolean endpoint would answer over the texts that are stored.

    Only where it finds the post by the query that did: elsewhere the platform has read more than the text, or read it
    in another way, and would have done so for the claim as well. Ranked endpoints need no word in particular.
    """
    as_it_is = ClaimAsItIs(EndpointKind.BOOLEAN).next(claim, ())
    boolean = [(match, query) for match, query in pairs if query.kind == EndpointKind.BOOLEAN]
    if as_it_is is None or not boolean:
        return {}
    index = BooleanIndex()
    index.add([str(match.match_id) for match, _ in boolean], [match.text for match, _ in boolean])
    by_claim = _found(index, as_it_is)
    by_query = {id_: _found(index, query.query) for id_, query in queries.items() if query.kind == EndpointKind.BOOLEAN}
    return {
        match.match_id: match.match_id in by_claim
        for match, query in boolean if match.match_id in by_query[query.id]
    }  # fmt: skip


def _found(index: BooleanIndex, query: Query) -> set[int]:
    return {int(hit.id) for hit in index.search(query, len(index))}


def rewording(claim: Claim, query: RecordedQuery) -> Rewording:
    """The edits as they show in the query at last: what a later edit took back is not told.

    Words are equal where their stems are. In a boolean query alternatives stand beside their word, and are not told.
    """
    there = set(BOOLEAN(" ".join(term for group in query.terms for term, _ in group)))

    def holds(word: str) -> bool:
        return set(BOOLEAN(word)) <= there

    edits = [found.groups() for found in map(_EDIT.fullmatch, query.edits) if found]
    is_text = query.kind != EndpointKind.BOOLEAN
    replacing = {"swap", "present simple"} if is_text else {"swap"}
    replaced = _replaced([(word, new) for action, word, new in edits if action in replacing and new])
    replaced = {word: new for word, new in replaced.items() if holds(new) and not holds(word)}
    return Rewording(
        left_out=tuple(
            word for word in content_words(claim.text, claim.language) if not holds(word) and word not in replaced
        ),
        replaced=tuple(replaced.items()),
        added=tuple(new for action, _, new in edits if action == "add synonym" and is_text and new and holds(new)),
        raised=tuple(word for action, word, _ in edits if action == "more"),
        lowered=tuple(word for action, word, _ in edits if action == "less"),
    )  # fmt: skip


def _replaced(swaps: Iterable[tuple[str, str]]) -> dict[str, str]:
    """What stands at last for each word of the claim, though it was replaced more than once."""
    stands_for: dict[str, str] = {}
    for word, new in swaps:
        origin = next((first for first, last in stands_for.items() if last == word), word)
        stands_for[origin] = new
    return stands_for
