"""The rank that the others wait for, what it costs them, and why it is late. Pure.

A rank's own time is its step without what it waits for others. The straggler has the largest in nearly all steps, or is
late again and again, in every second or third step, and no other rank ever is. What that costs is how much later it
comes than the next one, which is also what the others would gain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.gradient_sharing import sharing_pairs
from diagnostics.dynamic.steps.contention import Contention
from diagnostics.dynamic.steps.split import Split, own_s, used
from diagnostics.record.step_timings import Phase

MOSTLY = 0.8  # of the steps in which it must be the last one
AGAIN = 0.3  # of the steps: every third one; a rarer one is a checkpoint or an evaluation now and then
LATE = 0.25  # of an average step, to count as late in one
RARELY = 0.125  # of the steps in which it is late, at most, may others be late
MAIN = 0.5  # of what it is late by: the reason that explains as much is the reason
OWN = 0.1  # of a step, without what it lacks a CPU for: less is the doing of those that took it
THROTTLED = 0.05
MOST_ASKED = 15
_COMPUTES = (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER)
_ON_HOST = (Phase.DATA, Phase.CHECKPOINT, Phase.OTHER)  # of a job on a device, what its host does by itself


class Reason(StrEnum):
    """Why a rank is late."""

    DATA = "it waits for its data"
    CHECKPOINT = "it writes checkpoints"
    GARBAGE = "it collects garbage"
    SWAP = "its memory is read back from disk"
    WORK = "its model computes longer: it has more work in each step"
    CPU = "it computes something beside the model"
    READS = "it reads or writes files"
    WAITS = "it sleeps or waits for something outside of the job"
    THROTTLED = "its control group has used up its CPU quota"
    NEIGHBOUR = "it had no CPU: others took it"
    UNKNOWN = "why cannot be told"


@dataclass(frozen=True, slots=True, kw_only=True)
class Straggler:
    """One rank and what it costs; `gain_s` a step is measured, that it would be won is an estimate."""

    split: Split
    others: tuple[Split, ...]
    gain_s: float  # in the median step of those in which it is late
    cost: float  # of the median step; where it is late in a part of them, of all
    sure_cost: float  # of the step as it were if no rank had lacked a CPU; 0 where that is not known
    often: float  # of the steps in which it is the last one, or late where that is a part of them
    reason: Reason
    phase: Phase  # in which it loses most
    phase_s: float  # and how much more it takes there than the slowest other
    measured: bool  # that nobody took its CPU is known
    replicas: bool  # it trains the same model as the others
    partly: bool  # it is late in a part of the steps only

    @property
    def lost_s(self) -> float:
        """What the others waited for it in all."""
        return self.gain_s * len(self.split.of.steps) * (self.often if self.partly else 1.0)

    @property
    def of_what(self) -> str:
        """What `cost` is a share of, in words."""
        return "of the time" if self.partly else "of each"


def straggler(job: Job, splits: Sequence[Split], cpus: Contention) -> Straggler | None:
    """Returns the rank that is last in most steps, or late in many and alone in that; None without one."""
    if len(splits) < 2:
        return None
    own = [[own_s(one, step) for step in one.of.steps] for one in splits]
    steps = list(zip(*own, strict=True))
    last = _last(steps, splits)
    found, partly = last or _late_again(steps, splits), last is None
    if found is None:
        return None
    index, often, gain_s, mean_s, cost = found
    late, others = splits[index], tuple(one for at, one in enumerate(splits) if at != index)
    phase, phase_s = _phase(late, others)
    reason, measured = _reason(job, late, others, cpus, mean_s, phase)
    return Straggler(
        split=late,
        others=others,
        gain_s=gain_s,
        cost=min(1.0, cost),
        sure_cost=_sure_cost(late, others, mean_s),
        often=often,
        reason=reason,
        phase=phase,
        phase_s=phase_s,
        measured=measured,
        replicas=_are_replicas(job, late, others),
        partly=partly,
    )


_Found = tuple[int, float, float, float, float]  # rank's place, how often, gain when late, gain in any step, cost


def _last(steps: Sequence[tuple[float, ...]], splits: Sequence[Split]) -> _Found | None:
    """Returns the rank that is the last one in nearly all steps."""
    last = Counter(max(range(len(splits)), key=step.__getitem__) for step in steps)
    index, count = last.most_common(1)[0]
    gain_s, wall_s = median(_gains(steps, index)), splits[index].of.wall_s
    if count < MOSTLY * len(steps) or gain_s <= 0 or not wall_s:
        return None
    return index, count / len(steps), gain_s, gain_s, gain_s / wall_s


def _late_again(steps: Sequence[tuple[float, ...]], splits: Sequence[Split]) -> _Found | None:
    """Returns the rank that is late in many steps, all along, where no other one is."""
    mean_s = sum(one.mean_s for one in splits) / len(splits)
    late = [[gain > LATE * mean_s for gain in _gains(steps, at)] for at in range(len(splits))]
    index = max(range(len(splits)), key=lambda at: sum(late[at]))
    count, others = sum(late[index]), sum(map(sum, late)) - sum(late[index])
    if not mean_s or count < AGAIN * len(steps) or others > RARELY * count:
        return None
    half = len(steps) // 2
    if min(sum(late[index][:half]), sum(late[index][half:])) < MAIN * AGAIN * half:
        return None  # for a while only
    gains = [gain for gain, is_late in zip(_gains(steps, index), late[index], strict=True) if is_late]
    per_step_s = sum(gains) / len(steps)
    return index, count / len(steps), median(gains), per_step_s, per_step_s / splits[index].mean_s


def _gains(steps: Sequence[tuple[float, ...]], index: int) -> list[float]:
    """Returns by how much one rank is later than the next one, in each step."""
    return [step[index] - max(other for at, other in enumerate(step) if at != index) for step in steps]


def _sure_cost(late: Split, others: Sequence[Split], gain_s: float) -> float:
    """Returns what it costs without the time in which it had no CPU; none of that is its own doing.

    Where a machine is crowded, all that it computes takes longer, and lacks a CPU more often: then its CPU time tells.
    """
    if late.delay_s is None or any(one.delay_s is None for one in others):
        return 0.0
    more = max(0.0, late.delay_s - min(one.delay_s or 0.0 for one in others))
    rest_s = late.mean_s - late.delay_s
    own_s = max(gain_s - more, min(gain_s, _more_cpu(late, others)))
    return min(1.0, max(0.0, own_s) / rest_s) if rest_s > 0 else 0.0


def _more_cpu(late: Split, others: Sequence[Split]) -> float:
    """Returns the CPU time of its thread in a step beyond that of the busiest other rank."""
    return late.cpu_s - max(one.cpu_s for one in others)


def _phase(late: Split, others: Sequence[Split]) -> tuple[Phase, float]:
    """Returns where it takes most more than the slowest other."""
    on_device = late.of.process.agent is not None and late.of.process.agent.timings.on_device
    asked = _ON_HOST if on_device else [phase for phase in Phase if phase is not Phase.COLLECTIVE]
    more = {phase: late.seconds(phase) - max(one.seconds(phase) for one in others) for phase in asked}
    phase = max(more, key=lambda one: more[one])
    return phase, more[phase]


def _reason(
    job: Job, late: Split, others: Sequence[Split], cpus: Contention, gain_s: float, phase: Phase
) -> tuple[Reason, bool]:
    """Returns why it is late, and whether it is known that nobody took its CPU."""
    delays = [one.delay_s for one in (late, *others)]
    measured = all(delay is not None for delay in delays)
    lacked = (late.delay_s or 0.0) - min(one.delay_s or 0.0 for one in others)
    if measured and lacked >= MAIN * gain_s and _sure_cost(late, others, gain_s) < OWN:
        return (Reason.THROTTLED if (cpus.throttled or 0.0) > THROTTLED else Reason.NEIGHBOUR), True
    if phase is Phase.CHECKPOINT:
        return Reason.CHECKPOINT, measured
    if _garbage_s(late) - max(map(_garbage_s, others)) >= MAIN * gain_s:
        return Reason.GARBAGE, measured
    if _faults(job, late) > 1 and _faults(job, late) > 4 * max(_faults(job, one) for one in others):
        return Reason.SWAP, measured
    if phase is Phase.DATA:
        return Reason.DATA, measured
    computes = _more_cpu(late, others) >= MAIN * max(gain_s - max(0.0, lacked if measured else 0.0), 0.0)
    if phase in _COMPUTES:
        return (Reason.WORK if computes else Reason.WAITS), measured
    if computes:
        return Reason.CPU, measured
    moved = [_per_step(job, one, "disk_bytes") for one in (late, *others)]
    if moved[0] > 1 << 16 and moved[0] > 4 * max(moved[1:]):
        return Reason.READS, measured
    return Reason.WAITS, measured


def _garbage_s(one: Split) -> float:
    return sum(step.gc_s for step in one.of.steps) / len(one.of.steps)


def _faults(job: Job, one: Split) -> float:
    return _per_step(job, one, "major_faults")


def _per_step(job: Job, one: Split, name: str) -> float:
    looks = job.usage.processes.get(f"{one.of.process.pid}-{one.of.process.start_ticks}", ())
    grown = used(looks, one.of.window_s(job), name)
    return (grown or 0.0) / len(one.of.steps)


def _are_replicas(job: Job, late: Split, others: Sequence[Split]) -> bool:
    """Whether it trains the same model as each of the others: stages of a pipeline may differ by design."""
    asked = others[:MOST_ASKED]  # a thousand ranks have half a million pairs
    few = replace(job, ranks=tuple(one.of.process for one in (late, *asked)))
    pairs = [{one.rank, other.rank} for one, other, _ in sharing_pairs(few)]
    return all({late.rank, one.rank} in pairs for one in asked)
