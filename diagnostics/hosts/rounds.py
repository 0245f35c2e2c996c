"""Rounds of pairs in which each host has one partner at most: an edge colouring. Pure."""

from __future__ import annotations

from collections.abc import Sequence

Pair = tuple[int, int]


def all_rounds(hosts: int) -> list[list[Pair]]:
    """Returns N-1 rounds (N for odd N) that hold each pair once: the circle method of a tournament.

    One place stands still and the others go round it. For odd N the host beside the empty place rests.
    """
    places = hosts + hosts % 2
    rounds = []
    for turn in range(places - 1):
        circle = [(turn + step) % (places - 1) for step in range(places - 1)]
        pairs = [(circle[0], places - 1)]
        pairs += [(circle[step], circle[-step]) for step in range(1, places // 2)]
        rounds.append(sorted((min(pair), max(pair)) for pair in pairs if max(pair) < hosts))
    return rounds


def ring_rounds(hosts: int) -> list[list[Pair]]:
    """Returns the edges of the ring 0-1-...-0 in 2 rounds, 3 for an odd number: what rings of ranks are made of."""
    edges = [(place, (place + 1) % hosts) for place in range(hosts if hosts > 2 else hosts - 1)]
    last = [edges.pop()] if len(edges) % 2 and len(edges) > 1 else []
    rounds = [edges[0::2], edges[1::2], last]
    return [sorted((min(pair), max(pair)) for pair in one) for one in rounds if one]


def batches(rounds: Sequence[list[Pair]], first: int, rest: int) -> list[list[Pair]]:
    """Returns the rounds in batches that are tried at the same time: `first` rounds, then `rest` by `rest`."""
    starts = [0, *range(first, len(rounds), rest)]
    ends = [*starts[1:], len(rounds)]
    return [[pair for one in rounds[start:end] for pair in one] for start, end in zip(starts, ends, strict=True)]
