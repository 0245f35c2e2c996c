"""What a rank's latest steps consisted of, decoded from the area `timings` of its agent's file. Pure."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from diagnostics.agent.shared import timing_layout as layout


class Phase(StrEnum):
    """What the thread that trains does; the phases of a step add up to the step."""

    DATA = "data"  # in a loader's __next__
    FORWARD = "forward"
    BACKWARD = "backward"
    COLLECTIVE = "collective"  # in a call of torch.distributed
    OPTIMIZER = "optimizer"
    CHECKPOINT = "checkpoint"
    EVALUATION = "evaluation"  # forward without gradients
    OTHER = "other"


PHASES = tuple(Phase)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTiming:
    """One step, from the end of the optimizer's step before to the end of its own. Times in seconds."""

    number: int
    end_s: float  # since the agent started
    phases: tuple[float, ...]  # by PHASES
    forward_cpu_s: float  # of the thread that trains
    backward_cpu_s: float
    cpu_s: float
    gc_s: float
    compiles: int  # graphs that were compiled until then
    evaluated: bool  # a model was called without gradients

    @property
    def wall_s(self) -> float:
        """How long it took."""
        return sum(self.phases)

    def of(self, phase: Phase) -> float:
        """The seconds of one phase."""
        return self.phases[PHASES.index(phase)]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStages:
    """What one data worker of a loader did, or the process itself where it has no workers. Times in seconds."""

    loader: int
    worker: int
    batches: int
    fetch_s: float
    fetch_cpu_s: float
    collate_s: float  # of that
    collate_cpu_s: float
    cycle_s: float  # from the end of its first batch to that of its last

    @property
    def busy(self) -> float | None:
        """The share of its time in which it made batches, None where that cannot be told."""
        later = self.fetch_s * (self.batches - 1) / self.batches if self.batches > 1 else 0.0
        return min(1.0, later / self.cycle_s) if self.cycle_s > 0 and later else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """All of one process. `steps` are the latest ones, by number."""

    steps: tuple[StepTiming, ...] = ()
    stages: tuple[WorkerStages, ...] = ()
    count: int = 0
    on_device: bool = False  # host times are no compute times
    gc_count: int = 0
    gc_s: float = 0.0
    compiles: int = 0
    threads: int = 0  # of one operation, 0 unknown
    cpus: int = 0  # that this process may run on


def timings_of(area: bytes, began_ns: int) -> Timings:
    """Returns what the area says; nothing where it is cut short."""
    if len(area) < layout.TIMINGS_BYTES:
        return Timings()
    words = struct.unpack_from(f"<{layout.HEADER_WORDS}Q", area)
    return Timings(
        steps=tuple(sorted(steps_of(area[layout.RING_OFFSET :], began_ns), key=lambda step: step.number)),
        stages=tuple(_stages(area)),
        count=words[layout.STEPS],
        on_device=bool(words[layout.FLAGS] & layout.FLAG_DEVICE),
        gc_count=words[layout.GC_COUNT],
        gc_s=words[layout.GC_NS] / 1e9,
        compiles=words[layout.COMPILES],
        threads=words[layout.THREADS],
        cpus=words[layout.CPUS],
    )


def steps_of(slots: bytes, began_ns: int, first: int = 0) -> Iterator[StepTiming]:
    """Yields the steps that stand in the ring from slot `first` on; a slot that is cut short is left out."""
    whole = min(len(slots) // layout.STEP_BYTES, layout.STEP_SLOTS - first) * layout.STEP_BYTES
    for slot, (number, _, end_ns, *rest) in enumerate(struct.iter_unpack(layout.STEP, slots[:whole]), first):
        if not number or number % layout.STEP_SLOTS != slot:
            continue
        phases, (forward, backward, cpu, collected, compiles, flags) = rest[:8], rest[8:]
        yield StepTiming(
            number=number,
            end_s=(end_ns - began_ns) / 1e9,
            phases=tuple(one / 1e6 for one in phases),
            forward_cpu_s=forward / 1e6,
            backward_cpu_s=backward / 1e6,
            cpu_s=cpu / 1e6,
            gc_s=collected / 1e6,
            compiles=compiles,
            evaluated=bool(flags & layout.STEP_EVALUATED),
        )


def _stages(area: bytes) -> Iterator[WorkerStages]:
    for slot in range(layout.STAGE_SLOTS):
        at = layout.STAGES_OFFSET + slot * layout.STAGE_BYTES
        batches, *times, _ = struct.unpack_from(layout.STAGE, area, at)
        if batches:
            fetch, fetch_cpu, collate, collate_cpu, cycle = (one / 1e9 for one in times)
            yield WorkerStages(
                loader=slot // layout.STAGES_OF_LOADER,
                worker=slot % layout.STAGES_OF_LOADER,
                batches=batches,
                fetch_s=fetch,
                fetch_cpu_s=fetch_cpu,
                collate_s=collate,
                collate_cpu_s=collate_cpu,
                cycle_s=cycle,
            )
