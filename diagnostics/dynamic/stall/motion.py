"""What changed of a process between looks from outside: what moves is told from what stands. Pure.

A main thread that gave its CPU away as often as before did not run at all: that is exact. One whose stack stayed the
same and that used no CPU stands, though it may poll.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job import cpu_shares
from diagnostics.machine.facts import Activity

BUSY_BYTES_PER_S = 1 << 20


class ActivityLevel(StrEnum):
    """What a process did between the looks."""

    FROZEN = "frozen"  # its main thread did not run at all
    POLLS = "polls"  # the same stack and no work, but it woke up now and then
    BUSY = "busy"  # the same stack, and it used CPU or moved bytes
    MOVES = "moves"  # other lines
    STOPPED = "stopped"  # by a signal or a debugger
    UNKNOWN = "unknown"  # it could not be looked at twice


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One process at one moment. `frames` of its main thread, innermost first, () where they could not be read."""

    at_s: float
    frames: tuple[Frame, ...]
    activity: Activity | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityDelta:
    """The looks at one process, summed up. `cpus` and `switches_per_s` are None where they could not be read."""

    motion: ActivityLevel
    state: str = ""
    waits_in: str = ""
    cpus: float | None = None
    switches_per_s: float | None = None
    looks: int = 0
    same_function: bool = True  # whether it stayed in the same functions of the job, whatever their lines
    stacks: int = 0  # how many of the looks saw its stack

    @property
    def stands(self) -> bool:
        """Whether it came no further while it was looked at, and did no work."""
        return self.motion in (ActivityLevel.FROZEN, ActivityLevel.POLLS, ActivityLevel.STOPPED)

    @property
    def words(self) -> str:
        """Returns it in words, for one line of a screen."""
        same = "same stack, " if self.stacks > 1 else ""
        match self.motion:
            case ActivityLevel.STOPPED:
                return "stopped by a signal" if self.state == "T" else "stopped by a debugger"
            case ActivityLevel.MOVES:
                return f"moves, {self._cpu}" if self.cpus is not None else "moves"
            case ActivityLevel.BUSY:
                return f"{same}{self._cpu}"
            case ActivityLevel.POLLS:
                return f"{same}wakes up now and then"
            case ActivityLevel.FROZEN:
                return f"{'disk wait (D), ' if self.state == 'D' else same}did not run"
        return "looked at once" if self.looks == 1 else "state unknown"

    @property
    def _cpu(self) -> str:
        return f"{100 * (self.cpus or 0.0):.0f} % CPU"


def moved(looks: Sequence[Observation]) -> ActivityDelta:
    """Returns what the looks at one process say together, oldest first."""
    told = [look for look in looks if look.activity is not None]
    if not told:
        return ActivityDelta(motion=ActivityLevel.UNKNOWN)
    first, last = told[0], told[-1]
    before, after = first.activity, last.activity
    if before is None or after is None:
        return ActivityDelta(motion=ActivityLevel.UNKNOWN)
    stopped = after.state in "Tt"
    apart = last.at_s - first.at_s
    if len(told) < 2 or apart <= 0:
        motion = ActivityLevel.STOPPED if stopped else ActivityLevel.UNKNOWN
        return ActivityDelta(motion=motion, state=after.state, waits_in=after.waits_in, looks=len(told))
    cpus = (after.cpu_s - before.cpu_s) / apart
    ran = None if after.switches is None or before.switches is None else after.switches - before.switches
    seen = [look.frames for look in told if look.frames]
    # Of a child that ended meanwhile all of its life's CPU is there at once: it tells that its parent came further,
    # and nothing of how busy anybody was in between.
    reaped = (after.reaped_cpu_s - before.reaped_cpu_s) / apart
    busy = max(cpus, reaped) >= cpu_shares.WORKS or (after.bytes_moved - before.bytes_moved) / apart >= BUSY_BYTES_PER_S
    idle = after.main_cpu_s - before.main_cpu_s < cpu_shares.POLLS * apart
    return ActivityDelta(
        motion=ActivityLevel.STOPPED if stopped else _motion(seen, busy=busy, idle=idle, ran=ran),
        state=after.state,
        waits_in=after.waits_in,
        cpus=round(cpus, 2),
        switches_per_s=None if ran is None else round(ran / apart, 2),
        looks=len(told),
        stacks=len(seen),
        same_function=len({_functions(frames) for frames in seen}) <= 1,
    )


def _motion(seen: Sequence[tuple[Frame, ...]], *, busy: bool, idle: bool, ran: int | None) -> ActivityLevel:
    if len(set(map(user_frames, seen))) > 1 or (len(set(seen)) > 1 and (busy or not idle)):
        return ActivityLevel.MOVES
    if len(set(seen)) > 1:
        return ActivityLevel.POLLS  # a library's loop around a wait, called from one line of the job
    if ran == 0 and idle:
        return ActivityLevel.FROZEN  # whatever its other threads do
    if busy or not idle:
        return ActivityLevel.BUSY
    return ActivityLevel.POLLS if seen or ran is not None else ActivityLevel.UNKNOWN


def _functions(frames: Sequence[Frame]) -> tuple[tuple[str, str], ...]:
    return tuple((frame.file, frame.function) for frame in user_frames(frames))
