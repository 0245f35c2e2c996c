"""Where each rank stands, and which of them the others wait for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

WAITS_S = 1.0  # a collective takes its time: who waits for less than this waits for nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One rank at one moment. None and "" are what is not known."""

    rank: int
    pid: int
    step: int | None = None
    steps_per_s: float | None = None
    data_share: float | None = None
    cpu_share: float | None = None  # of one CPU
    memory_bytes: float | None = None
    module: str = ""
    call: str = ""  # "all_reduce #17", the last one
    group: str = ""
    members: tuple[int, ...] = ()  # the ranks of that group
    number: int = -1  # of that call in its group, where all ranks make it alike
    inside_s: float | None = None  # since when it is in that call; None: it has left it
    ended: str = ""  # how, "" while it runs
    waits_for: tuple[int, ...] = ()
    holds_up: int = 0  # ranks that wait for this one

    @property
    def is_waiting(self) -> bool:
        """Whether it has been inside a call for longer than one takes."""
        return self.inside_s is not None and self.inside_s >= WAITS_S


def judged(standings: Sequence[Standing]) -> list[Standing]:
    """Returns the ranks with whom they wait for; who holds up most comes first, then who is behind.

    A rank that waits for a collective waits for those of its group that have not entered that number: only what their
    own calls tell counts, of a rank that has recorded none in that group nothing is known.
    """
    reached = {(one.rank, one.group, one.members): one.number for one in standings if one.number >= 0}
    told, held = [], dict.fromkeys((one.rank for one in standings), 0)
    for one in standings:
        late: tuple[int, ...] = ()
        if one.is_waiting and one.number >= 0:
            late = tuple(
                rank for rank in one.members if reached.get((rank, one.group, one.members), one.number) < one.number
            )
        for rank in late:
            held[rank] = held.get(rank, 0) + 1
        told.append(replace(one, waits_for=late))
    found = [replace(one, holds_up=held[one.rank]) for one in told]
    return sorted(found, key=lambda one: (-one.holds_up, one.step if one.step is not None else 1 << 62, one.rank))
