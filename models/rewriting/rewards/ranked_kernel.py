"""What many bags of words are worth by the ranks of the gold texts, compiled. Imported on first use.

Nothing is searched for and nothing is sorted: a gold text's score is known beforehand, and its rank is one more than
the number of texts that beat it. Only texts that may beat it are looked at; for a batch of bags:

1. `reach` of a text is its score for the bag that has each term as often as the bag of the batch that has it most. No
   bag of the batch scores it higher. The most frequent terms are left out; a bag's are worth `rest` at most.
2. Candidates are the texts whose reach is `least` or more. Any other scores less than least + rest, so that where the
   gold text scores that much, all that beat it are among the candidates, and their number is exact.
3. Where so many candidates beat it that its rank is past the cut, nothing more need be known either.
4. What is open then is tried again with fewer terms left out and, after that, bag by bag with all texts.

The candidates' scores for a bag are those for its state, plus and minus the columns of the terms that differ.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.rewriting.rewards.bag_table import Bags, Table, empty_table, larger_table, number_bags
from models.rewriting.rewards.compilation import bits_set, compiled
from models.rewriting.rewards.measures import measure

__all__ = ["Bags", "Index", "Scratch", "Table", "empty_table", "evaluate", "larger_table"]

_BATCH = 128  # bags that share candidates: those of one state or of some
# Candidates of the first round, of the second, and none. No bare numbers: kernels are compiled anew for each of those.
_FEW, _MANY, _NONE = np.array([256, 8192, 0])
_LEFT_OUT = 0.3  # of a gold text's score: what the terms left out may be worth together
_OPEN, _PAST = -1, 0  # ranks: not known yet; past the cut, or without any term of the bag


class Index(NamedTuple):
    """As in `ImpactIndex`."""

    starts: NDArray[np.int64]
    documents: NDArray[np.uint32]
    impacts: NDArray[np.int32]
    largest: NDArray[np.int32]
    rows: NDArray[np.int32]
    bits: NDArray[np.uint64]
    before: NDArray[np.int32]


class Scratch(NamedTuple):
    """One a thread; as it was after each call."""

    slots: NDArray[np.int32]  # (terms + 1,), -1
    reach: NDArray[np.int32]  # (texts,), 0
    touched: NDArray[np.uint32]  # (texts + 1,), anything


class _Batch(NamedTuple):
    """Some bags, their terms numbered by slots. Bag i has the counts of its state and, for places from
    delta_bounds[i] to delta_bounds[i + 1], so many times more or less of a slot."""

    terms: NDArray[np.int32]  # (slots,)
    states: NDArray[np.int64]  # (bags,): rows of `counts`
    counts: NDArray[np.int32]  # (states, slots)
    delta_bounds: NDArray[np.int64]  # (bags + 1,)
    delta_slots: NDArray[np.int32]
    delta_times: NDArray[np.int32]


@compiled
def evaluate(
    index: Index,
    scratch: Scratch,
    golds: NDArray[np.int32],  # ascending
    relevant: int,
    cut: int,
    bags: Bags,
    table: Table,
    measures: NDArray[np.float64],  # (more than all bags, 4): by the bag's number in the table; new ones are filled in
    seen: int,
    worth: NDArray[np.float64],  # (bags, 4), filled
) -> int:
    """How many bags have been seen now."""
    of_bags, new = np.empty(len(worth), dtype=np.int64), np.empty(len(worth), dtype=np.int64)
    found = number_bags(bags, index.largest, table, seen, of_bags, new)
    ranks = np.empty((found, len(golds)), dtype=np.int32)
    for start in range(0, found, _BATCH):
        end = min(start + _BATCH, found)
        _rank_batch(index, scratch, golds, bags, new[start:end], cut, ranks[start:end])
    measure(ranks, relevant, measures[seen : seen + found])
    for bag in range(len(worth)):
        worth[bag] = measures[of_bags[bag]]
    return seen + found


@compiled
def _rank_batch(
    index: Index,
    scratch: Scratch,
    golds: NDArray[np.int32],
    bags: Bags,
    wanted: NDArray[np.int64],
    cut: int,
    ranks: NDArray[np.int32],
) -> None:
    """(wanted, golds): by score, then by number; 1 … cut, or 0."""
    terms = _assign_slots(index, scratch.slots, bags, wanted)
    batch = _batch(scratch.slots, bags, wanted, terms)
    scores = np.empty(ranks.shape, dtype=np.int32)
    for g in range(len(golds)):
        scores[:, g] = _totals(batch, _worth_in(index, terms, golds[g]))
    most = _NONE
    for i in range(ranks.shape[0]):
        for g in range(ranks.shape[1]):
            ranks[i, g] = _OPEN if scores[i, g] > 0 else _PAST
            most = max(most, scores[i, g])
    if most > 0:
        _rank_among_candidates(index, scratch, golds, batch, scores, cut, most, _FEW, ranks)
    least = _least_open(scores, ranks)
    if least > 0:
        _rank_among_candidates(index, scratch, golds, batch, scores, cut, least, _MANY, ranks)
        _rank_among_all(index, scratch.reach, golds, batch, scores, cut, ranks)


@compiled
def _least_open(scores: NDArray[np.int32], ranks: NDArray[np.int32]) -> int:
    """The smallest score of a gold text whose rank is open, 0 if none is."""
    least = 0
    for i in range(len(scores)):
        for g in range(scores.shape[1]):
            if ranks[i, g] == _OPEN and (least == 0 or scores[i, g] < least):
                least = scores[i, g]
    return least


@compiled
def _assign_slots(index: Index, slots: NDArray[np.int32], bags: Bags, wanted: NDArray[np.int64]) -> NDArray[np.int32]:
    """The known terms of the bags, each once; `slots` gives their places from here on."""
    terms = np.empty(len(bags.state_terms) + len(bags.terms), dtype=np.int32)
    found, state = 0, -1
    for bag in wanted:
        if bags.of_bags[bag] != state:
            state = bags.of_bags[bag]
            found = _add_slots(
                index, slots, bags.state_terms[bags.state_bounds[state] : bags.state_bounds[state + 1]], terms, found
            )
        found = _add_slots(index, slots, bags.terms[bags.bounds[2 * bag] : bags.bounds[2 * bag + 2]], terms, found)
    return terms[:found]


@compiled
def _add_slots(
    index: Index, slots: NDArray[np.int32], new: NDArray[np.int32], terms: NDArray[np.int32], found: int
) -> int:
    for term in new:
        if slots[term] < 0 and index.largest[term] > 0:
            slots[term] = found
            terms[found] = term
            found += 1
    return found


@compiled
def _batch(slots: NDArray[np.int32], bags: Bags, wanted: NDArray[np.int64], terms: NDArray[np.int32]) -> _Batch:
    """`slots` is then as it was."""
    room = 0
    for bag in wanted:
        room += bags.bounds[2 * bag + 2] - bags.bounds[2 * bag]
    bounds, states = np.zeros(len(wanted) + 1, dtype=np.int64), np.zeros(len(wanted), dtype=np.int64)
    delta_slots, delta_times = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
    first = bags.of_bags[wanted[0]]
    counts = np.zeros((bags.of_bags[wanted[-1]] - first + 1, len(terms)), dtype=np.int32)
    for state in range(len(counts)):
        start, end = bags.state_bounds[first + state], bags.state_bounds[first + state + 1]
        for term in bags.state_terms[start:end]:
            if slots[term] >= 0:
                counts[state, slots[term]] += 1
    net = np.zeros(len(terms), dtype=np.int32)
    for i in range(len(wanted)):
        states[i] = bags.of_bags[wanted[i]] - first
        bounds[i + 1] = _add_deltas(slots, bags, wanted[i], counts[states[i]], net, delta_slots, delta_times, bounds[i])
    for term in terms:
        slots[term] = -1
    return _Batch(terms, states, counts, bounds, delta_slots, delta_times)


@compiled
def _add_deltas(
    slots: NDArray[np.int32],
    bags: Bags,
    bag: int,
    counts: NDArray[np.int32],
    net: NDArray[np.int32],  # (slots,), 0 before and after
    delta_slots: NDArray[np.int32],
    delta_times: NDArray[np.int32],
    place: int,
) -> int:
    """Write what a bag has more or less than its state, each slot once; no count falls below 0."""
    start, middle, end = bags.bounds[2 * bag], bags.bounds[2 * bag + 1], bags.bounds[2 * bag + 2]
    for p in range(start, end):
        if slots[bags.terms[p]] >= 0:
            net[slots[bags.terms[p]]] += 1 if p >= middle else -1
    for p in range(start, end):
        slot = slots[bags.terms[p]]
        if slot >= 0 and net[slot] != 0:
            times = max(net[slot], -counts[slot])
            net[slot] = 0
            if times != 0:
                delta_slots[place], delta_times[place] = slot, times
                place += 1
    return place


@compiled
def _worth_in(index: Index, terms: NDArray[np.int32], text: int) -> NDArray[np.int32]:
    """(slots,): what each term is worth in a text."""
    worth = np.zeros(len(terms), dtype=np.int32)
    for s in range(len(terms)):
        end = index.starts[terms[s] + 1]
        place = _place(index.documents, index.starts[terms[s]], end, text)
        if place < end and index.documents[place] == text:
            worth[s] = index.impacts[place]
    return worth


@compiled
def _totals(batch: _Batch, worth: NDArray[np.int32]) -> NDArray[np.int32]:
    """(bags,): the sum over a bag's terms of what each slot is worth."""
    totals = np.empty(len(batch.states), dtype=np.int32)
    state, base = -1, 0
    for i in range(len(totals)):
        if batch.states[i] != state:
            state, base = batch.states[i], 0
            for s in range(len(worth)):
                base += batch.counts[state, s] * worth[s]
        total = base
        for d in range(batch.delta_bounds[i], batch.delta_bounds[i + 1]):
            total += batch.delta_times[d] * worth[batch.delta_slots[d]]
        totals[i] = total
    return totals


@compiled
def _place(texts: NDArray[np.uint32], start: int, end: int, text: int) -> int:
    """The first place from start to end that holds `text` or one after it, else `end`."""
    while start < end:
        middle = (start + end) // 2
        if texts[middle] < text:
            start = middle + 1
        else:
            end = middle
    return start


@compiled
def _rank_among_candidates(
    index: Index,
    scratch: Scratch,
    golds: NDArray[np.int32],
    batch: _Batch,
    gold_scores: NDArray[np.int32],  # (bags, golds)
    cut: int,
    score: int,
    most: int,
    ranks: NDArray[np.int32],
) -> None:
    """Close what can be closed by `most` candidates, leaving out terms as suits a gold text of that score."""
    tops = _tops(batch, ranks)
    chosen = _chosen(index, batch.terms, tops, score * _LEFT_OUT)
    rests = _totals(batch, _largest_of_others(index, batch.terms, chosen))
    least = _least_needed(gold_scores, rests, ranks)
    if least == 0:
        return
    touched = scratch.touched[: _reach(index, batch.terms, tops, chosen, scratch)]
    least, candidates = _candidates(scratch.reach, touched, least, most)
    columns = _columns(index, batch.terms, tops, candidates, scratch.reach)
    of_state, scores = np.zeros(len(candidates), dtype=np.int32), np.empty(len(candidates), dtype=np.int32)
    state = -1
    for i in range(len(ranks)):
        if not _is_open(ranks[i]):
            continue
        if batch.states[i] != state:
            state = batch.states[i]
            _score_state(of_state, columns, batch.counts[state])
        scores[:] = of_state
        for d in range(batch.delta_bounds[i], batch.delta_bounds[i + 1]):
            _add_times(scores, columns[batch.delta_slots[d]], batch.delta_times[d])
        for g in range(len(golds)):
            if ranks[i, g] == _OPEN:
                better = _count_better(scores, candidates, gold_scores[i, g], golds[g])
                if better >= cut:
                    ranks[i, g] = _PAST
                elif least + rests[i] <= gold_scores[i, g]:
                    ranks[i, g] = better + 1


@compiled
def _is_open(ranks: NDArray[np.int32]) -> bool:
    for rank in ranks:
        if rank == _OPEN:
            return True
    return False


@compiled
def _holders(index: Index, term: int) -> int:
    return index.starts[term + 1] - index.starts[term]  # type: ignore[no-any-return]


@compiled
def _tops(batch: _Batch, ranks: NDArray[np.int32]) -> NDArray[np.int32]:
    """(slots,): the most that an open bag has of each term."""
    tops = np.zeros(len(batch.terms), dtype=np.int32)
    state = -1
    for i in range(len(ranks)):
        if not _is_open(ranks[i]):
            continue
        if batch.states[i] != state:
            state = batch.states[i]
            tops = np.maximum(tops, batch.counts[state])
        for d in range(batch.delta_bounds[i], batch.delta_bounds[i + 1]):
            slot = batch.delta_slots[d]
            tops[slot] = max(tops[slot], batch.counts[state, slot] + batch.delta_times[d])
    return tops


@compiled
def _chosen(index: Index, terms: NDArray[np.int32], tops: NDArray[np.int32], spared: float) -> NDArray[np.bool_]:
    """(slots,): the terms in use less the most frequent ones, so many that these are worth `spared` at most."""
    chosen = tops > 0
    while True:
        most, longest = 0, -1
        for s in range(len(terms)):
            if chosen[s] and _holders(index, terms[s]) > most:
                most, longest = _holders(index, terms[s]), s
        if longest < 0:
            return chosen
        spared -= tops[longest] * index.largest[terms[longest]]
        if spared < 0:
            return chosen
        chosen[longest] = False


@compiled
def _largest_of_others(index: Index, terms: NDArray[np.int32], chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    """(slots,): the most that a term not chosen is worth in any text; 0 for a chosen one."""
    largest = np.zeros(len(terms), dtype=np.int32)
    for s in range(len(terms)):
        if not chosen[s]:
            largest[s] = index.largest[terms[s]]
    return largest


@compiled
def _least_needed(scores: NDArray[np.int32], rests: NDArray[np.int32], ranks: NDArray[np.int32]) -> int:
    """The smallest reach that an open rank asks for, of those that can be had; 0 if there is none."""
    least = 0
    for i in range(len(scores)):
        for g in range(scores.shape[1]):
            needed = scores[i, g] - rests[i]
            if ranks[i, g] == _OPEN and needed > 0 and (least == 0 or needed < least):
                least = needed
    return least


@compiled
def _reach(
    index: Index, terms: NDArray[np.int32], tops: NDArray[np.int32], chosen: NDArray[np.bool_], scratch: Scratch
) -> int:
    """Add up the reach of all texts that hold a chosen term; how many these are, listed in `touched`."""
    found = 0
    for s in range(len(terms)):
        if chosen[s]:
            found = _add_reach(index, terms[s], tops[s], scratch.reach, scratch.touched, found)
    return found


@compiled
def _add_reach(
    index: Index, term: int, times: int, reach: NDArray[np.int32], touched: NDArray[np.uint32], found: int
) -> int:
    for p in range(index.starts[term], index.starts[term + 1]):
        text = index.documents[p]
        before = reach[text]
        touched[found] = text  # counts if it is new
        found += before == 0
        reach[text] = before + times * index.impacts[p]
    return found


@compiled
def _candidates(
    reach: NDArray[np.int32], touched: NDArray[np.uint32], least: int, most: int
) -> tuple[int, NDArray[np.uint32]]:
    """The texts that reach `least`, or a greater bound if they are more than `most`; the bound. `reach` is then 0."""
    values = np.empty(len(touched), dtype=np.int32)
    for i in range(len(touched)):
        values[i] = reach[touched[i]]
        reach[touched[i]] = 0
    bound, count = _raised(values, least, most)
    candidates = np.empty(count + 1, dtype=np.uint32)  # one more: a text is written before it is known to count
    found = 0
    for i in range(len(touched)):
        candidates[found] = touched[i]
        found += values[i] >= bound
    return bound, candidates[:count]


@compiled
def _raised(values: NDArray[np.int32], least: int, most: int) -> tuple[int, int]:
    """A bound from `least` on that no more than `most` values reach, if it was raised then more than half as many
    unless they tie; how many reach it."""
    found = _count_reaching(values, least)
    if found <= most:
        return least, found
    low, high, found = least, values.max() + 1, 0
    while high - low > 1:
        middle = (low + high) // 2
        reaching = _count_reaching(values, middle)
        if reaching > most:
            low = middle
        else:
            high, found = middle, reaching
            if 2 * reaching > most:
                break
    return high, found


@compiled
def _count_reaching(values: NDArray[np.int32], bound: int) -> int:
    least = np.int32(bound)
    found = 0
    for value in values:
        found += value >= least
    return found


@compiled
def _columns(
    index: Index,
    terms: NDArray[np.int32],
    tops: NDArray[np.int32],
    candidates: NDArray[np.uint32],
    places: NDArray[np.int32],
) -> NDArray[np.int32]:
    """(slots, candidates): what each term is worth in each candidate. `places` is all 0 before and after."""
    columns = np.zeros((len(terms), len(candidates)), dtype=np.int32)
    for c in range(len(candidates)):
        places[candidates[c]] = c + 1
    for s in range(len(terms)):
        if tops[s] == 0:
            continue
        row = index.rows[terms[s]]
        if row >= 0 and _holders(index, terms[s]) > len(candidates):
            _look_up(index, terms[s], row, candidates, columns[s])
            continue
        for p in range(index.starts[terms[s]], index.starts[terms[s] + 1]):
            place = places[index.documents[p]]
            if place > 0:
                columns[s, place - 1] = index.impacts[p]
    for text in candidates:
        places[text] = 0
    return columns


@compiled
def _look_up(index: Index, term: int, row: int, candidates: NDArray[np.uint32], column: NDArray[np.int32]) -> None:
    """Fill a column by the term's row of bits."""
    start = index.starts[term]
    for c in range(len(candidates)):
        word, bit = candidates[c] >> 6, np.uint64(1) << np.uint64(candidates[c] & 63)
        held = index.bits[row, word]
        if held & bit:
            column[c] = index.impacts[start + index.before[row, word] + bits_set(held & (bit - np.uint64(1)))]


@compiled
def _score_state(scores: NDArray[np.int32], columns: NDArray[np.int32], counts: NDArray[np.int32]) -> None:
    scores[:] = 0
    for s in range(len(counts)):
        if counts[s] != 0:
            _add_times(scores, columns[s], counts[s])


@compiled
def _add_times(scores: NDArray[np.int32], column: NDArray[np.int32], times: int) -> None:
    if times == 1:
        for c in range(len(scores)):
            scores[c] += column[c]
    elif times == -1:
        for c in range(len(scores)):
            scores[c] -= column[c]
    else:
        for c in range(len(scores)):
            scores[c] += times * column[c]


@compiled
def _count_better(scores: NDArray[np.int32], texts: NDArray[np.uint32], gold_score: int, gold: int) -> int:
    """How many texts score more than the gold text, or as much with a smaller number."""
    bound, number = np.int32(gold_score), np.uint32(gold)
    found = 0
    for c in range(len(scores)):
        found += (scores[c] > bound) | ((scores[c] == bound) & (texts[c] < number))
    return found


@compiled
def _rank_among_all(
    index: Index,
    scores: NDArray[np.int32],
    golds: NDArray[np.int32],
    batch: _Batch,
    gold_scores: NDArray[np.int32],
    cut: int,
    ranks: NDArray[np.int32],
) -> None:
    """Close what is open still: a plain count over all texts. `scores` is 0 before and after."""
    for i in range(len(ranks)):
        if not _is_open(ranks[i]):
            continue
        counts = batch.counts[batch.states[i]].copy()
        for d in range(batch.delta_bounds[i], batch.delta_bounds[i + 1]):
            counts[batch.delta_slots[d]] += batch.delta_times[d]
        for s in range(len(counts)):
            if counts[s] > 0:
                for p in range(index.starts[batch.terms[s]], index.starts[batch.terms[s] + 1]):
                    scores[index.documents[p]] += counts[s] * index.impacts[p]
        for g in range(len(golds)):
            if ranks[i, g] == _OPEN:
                better = _count_better_of_all(scores, gold_scores[i, g], golds[g])
                ranks[i, g] = better + 1 if better < cut else _PAST
        scores[:] = 0


@compiled
def _count_better_of_all(scores: NDArray[np.int32], gold_score: int, gold: int) -> int:
    bound = np.int32(gold_score)
    found = 0
    for score in scores[:gold]:
        found += score >= bound
    for score in scores[gold:]:
        found += score > bound
    return found
