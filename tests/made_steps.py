"""Ranks with steps and looks at what they used, put together by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import hand_made as made
from made_batches import DDP, one_pass, source

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.batch_data import LoaderPass
from diagnostics.record.step_timings import PHASES, StepTiming, Timings
from diagnostics.record.usage import MachineUsage, ProcessUsage, Usage

STEPS = 100


def step(number: int, end_s: float, phases: Mapping[str, float], **fields: Any) -> StepTiming:
    """Returns one step; phases in seconds, what its thread computes is all of it but `waits`."""
    waits = fields.pop("waits", 0.0)
    known = {
        "number": number, "end_s": end_s, "phases": tuple(phases.get(str(one), 0.0) for one in PHASES),
        "forward_cpu_s": phases.get("forward", 0.0), "backward_cpu_s": phases.get("backward", 0.0) - waits,
        "cpu_s": sum(phases.values()) - waits - phases.get("collective", 0.0), "gc_s": 0.0, "compiles": 0,
        "evaluated": False,
    }  # fmt: skip
    return StepTiming(**{**known, **fields})


def rank(
    number: int, phases: Mapping[str, float], *, count: int = STEPS, timings: Mapping[str, Any] | None = None,
    loader: Mapping[str, str] | None = None, events: tuple[Any, ...] = (), passes: int = 2,
    augments: bool = False, **fields: Any,
) -> JobProcess:  # fmt: skip
    """Returns a rank in DDP whose steps are all alike; `fields` are those of its steps, or of the process.

    Where it `augments`, a sample comes with other contents in each pass.
    """
    process = {name: fields.pop(name) for name in ("step_stacks",) if name in fields}
    wall = sum(phases.values())
    steps = tuple(step(one, 1.0 + wall * one, phases, **fields) for one in range(1, count + 1))
    told = Timings(**{"steps": steps, "count": count, "threads": 1, "cpus": 4, **(timings or {})})
    samples = list(range(4 * count))
    drawn = (_moved(one_pass(at, samples), at * augments) for at in range(passes))
    sources = (source(*drawn, **{"stages": "0", **(loader or {})}),)
    agent = made.agent(
        made.event("gradient-group", DDP), *events, pid=100 + number, steps=count, timings=told, sources=sources
    )
    return made.a_process(100 + number, rank=number, agent=agent, **process)


def _moved(one: LoaderPass, by: int) -> LoaderPass:
    return replace(one, log=tuple(replace(each, samples=tuple(it + by for it in each.samples)) for each in one.log))


def job(
    *ranks: JobProcess, delays: Mapping[int, float] | None = None, others: float = 0.0,
    grows: Mapping[int, float] | None = None, queue: float = 1.0, **fields: Any,
) -> Job:  # fmt: skip
    """Returns the job of these ranks with looks each half second; without `delays` nobody looked.

    `delays` are seconds without a CPU in each second by rank (of the main thread; `queue` times that of all threads),
    `grows` bytes in each second, `others` the share of four CPUs that other programs use.
    """
    times = [0.5 * look for look in range(60)]
    processes = {
        f"{one.pid}-1": tuple(
            ProcessUsage(
                at_s=at_s, cpu_s=0.5 * at_s, delayed_s=queue * (delays or {}).get(one.rank or 0, 0.0) * at_s,
                main_delayed_s=(delays or {}).get(one.rank or 0, 0.0) * at_s,
                private_bytes=(100 << 20) + (grows or {}).get(one.rank or 0, 0.0) * at_s, major_faults=0.0,
                swapped_bytes=0.0, bytes_moved=0.0, disk_bytes=0.0, threads=4.0,
            )
            for at_s in times
        )
        for one in ranks
    }  # fmt: skip
    own = 0.5 * len(ranks)
    machine = tuple(
        MachineUsage(
            at_s=at_s, busy_s=(own + 4 * others) * at_s, idle_s=(4 - own - 4 * others) * at_s, stolen_s=0.0,
            throttled_s=0.0,
        )
        for at_s in times
    )  # fmt: skip
    if delays is None:
        return made.a_job(*ranks, code=0, **fields)
    return made.a_job(*ranks, code=0, usage=Usage(machine=machine, processes=processes), **fields)
