"""What a rank has always done at a place, and whether what it waits in now breaks with that. Pure.

A rank that went round its loop several times is its own witness: the call that always followed another one, the group
that a line always called in. It needs no second rank that runs the same code, which sends and receives seldom have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from diagnostics.record.agent_data import CollectiveCall

FEWEST = 2  # rounds that make a habit


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """After `before` always came `usual`; the rank waits in `now` instead."""

    before: CollectiveCall
    usual: CollectiveCall
    now: CollectiveCall


def broken(calls: Sequence[CollectiveCall]) -> Break | None:
    """Returns how the last of a rank's calls, oldest first, breaks with what used to follow; None where it does not."""
    if len(calls) < FEWEST + 2 or not calls[-1].path:
        return None
    *_, before, now = calls
    pairs = pairwise(calls[:-1])
    followers = [after for one, after in pairs if one.path == before.path and after.thread == one.thread]
    if len(followers) < FEWEST or any(after.path == now.path for after in followers):
        return None
    path, times = Counter(after.path for after in followers).most_common(1)[0]
    if times < len(followers):
        return None
    return Break(before=before, usual=next(one for one in reversed(followers) if one.path == path), now=now)


def in_another_group(calls: Sequence[CollectiveCall]) -> bool:
    """Whether the last of a rank's calls from one place names another group than each one before."""
    return len(calls) > FEWEST and all(one.group != calls[-1].group for one in calls[:-1])
