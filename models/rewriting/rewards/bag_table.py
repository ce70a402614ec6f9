"""Which bags of words are equal to one seen before, compiled. Imported on first use.

A bag's key is a sum, mod 2^64, of one scrambled number a word: the order of the words does not matter, and an edit adds
or takes away a number. Two unlike bags of an episode of 10,000 share a key with a chance of 3e-12.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.rewriting.rewards.compilation import compiled


class Bags(NamedTuple):
    """Bag i is the bag of state of_bags[i] less terms[bounds[2i]:bounds[2i + 1]] plus
    terms[bounds[2i + 1]:bounds[2i + 2]]; state j is state_terms[state_bounds[j]:state_bounds[j + 1]]."""

    state_bounds: NDArray[np.int64]  # (states + 1,)
    state_terms: NDArray[np.int32]
    of_bags: NDArray[np.int64]  # (bags,), ascending
    bounds: NDArray[np.int64]  # (2 bags + 1,)
    terms: NDArray[np.int32]


class Table(NamedTuple):
    """The keys seen, in an open table of more than twice as many places, and their numbers in order of arrival."""

    keys: NDArray[np.uint64]  # (a power of two,), 0 where free
    numbers: NDArray[np.int64]  # as long


@compiled
def number_bags(
    bags: Bags, known: NDArray[np.int32], table: Table, seen: int, of_bags: NDArray[np.int64], new: NDArray[np.int64]
) -> int:
    """Fill (bags,) with each bag's number, equal for equal bags, and the first of `new` with the bags not seen
    before, which are numbered from `seen` on; how many these are. Terms whose `known` is 0 do not count."""
    found, state, base = 0, -1, np.uint64(0)
    for bag in range(len(of_bags)):
        if bags.of_bags[bag] != state:
            state = bags.of_bags[bag]
            base = _key(bags.state_terms[bags.state_bounds[state] : bags.state_bounds[state + 1]], known)
        key = base
        for p in range(bags.bounds[2 * bag], bags.bounds[2 * bag + 2]):
            if known[bags.terms[p]] > 0:
                number = _scrambled(bags.terms[p])
                key += number if p >= bags.bounds[2 * bag + 1] else ~number + np.uint64(1)
        place = _place(table.keys, key)
        if table.keys[place] != key:
            table.keys[place], table.numbers[place] = key, seen + found
            new[found] = bag
            found += 1
        of_bags[bag] = table.numbers[place]
    return found


@compiled
def _key(terms: NDArray[np.int32], known: NDArray[np.int32]) -> np.uint64:
    key = np.uint64(1)
    for term in terms:
        if known[term] > 0:
            key += _scrambled(term)
    return key


@compiled
def _scrambled(term: int) -> np.uint64:
    """splitmix64 (Steele, Lea and Flood 2014)."""
    x = np.uint64(term + 1) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled
def _place(keys: NDArray[np.uint64], key: np.uint64) -> np.uint64:
    """Where the key is, or would go."""
    last = np.uint64(len(keys) - 1)
    place = key & last
    while keys[place] != 0 and keys[place] != key:
        place = (place + np.uint64(1)) & last
    return place


@compiled
def _move_keys(table: Table, larger: Table) -> None:
    for old in range(len(table.keys)):
        if table.keys[old] != 0:
            place = _place(larger.keys, table.keys[old])
            larger.keys[place], larger.numbers[place] = table.keys[old], table.numbers[old]


def empty_table(room: int) -> Table:
    """`room` is a power of two."""
    return Table(np.zeros(room, dtype=np.uint64), np.zeros(room, dtype=np.int64))


def larger_table(table: Table, room: int) -> Table:
    larger = empty_table(room)
    _move_keys(table, larger)
    return larger
