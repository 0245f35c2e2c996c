"""Seconds and memory of making the page of a job of 10,000 ranks, from records made by hand."""

from __future__ import annotations

import json
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
from analysis_of_1000_ranks import a_process  # noqa: E402 - of the folder above

from diagnostics.core.failure_classes import JobOutcome  # noqa: E402
from diagnostics.core.findings import Confidence  # noqa: E402
from diagnostics.diagnosis.rank_table import rank_rows, stack_groups  # noqa: E402
from diagnostics.diagnosis.timeline import timeline  # noqa: E402
from diagnostics.dynamic.job.job import Job, JobProcess  # noqa: E402
from diagnostics.dynamic.trace.trace_builder import trace_of  # noqa: E402
from diagnostics.record.step_timings import PHASES, StepTiming, Timings  # noqa: E402
from diagnostics.record.supervisor_facts import SupervisorFacts  # noqa: E402
from diagnostics.report.headline import headline  # noqa: E402
from diagnostics.report.html.run_page import run_page  # noqa: E402
from diagnostics.report.page import json_text  # noqa: E402
from diagnostics.report.run_report import RunReport  # noqa: E402
from diagnostics.static.program.source_file import SourceStore  # noqa: E402


def many_ranks_page(count: int) -> str:
    """Returns the page: rank 4711 has left its loop, the others wait for it."""
    return page_of(made_job(count))


def made_job(count: int) -> Job:
    """Returns the job; full rings, eight kinds of steps."""
    world = tuple(range(count))
    kinds = [Timings(steps=tuple(_step(number, kind) for number in range(3977, 5000)), count=5000) for kind in range(8)]
    odd, same = min(4711, count - 1), a_process(0, world, odd=False)  # rings are alike: one for all is enough
    ranks = tuple(
        _rank(rank, a_process(rank, world, odd=True) if rank == odd else same, kinds[rank % 8]) for rank in world
    )
    facts = SupervisorFacts(command=("torchrun", "train.py"), cwd="/job", started_ns=0, ended_s=10_000.0)
    culprits = (ranks[odd],)
    return Job(
        facts=facts, processes=ranks, ranks=ranks, culprits=culprits, victims=(), sent=(), output="",
        output_by_rank={}, sources=SourceStore("/job"),
    )  # fmt: skip


def page_of(job: Job) -> str:
    """Returns the page of a job, with all that a report makes of it."""
    late = tuple(one.rank for one in job.culprits if one.rank is not None)
    report = RunReport(
        doctor_version="0", provisional=False, outcome=JobOutcome.HANG, failure_class="rank-stalled",
        culprit_ranks=late, victim_ranks=(), location="train.py:40", locations=("train.py:40",), module=None,
        root_cause="one rank left its loop", fix="let all ranks decide together", confidence=Confidence.CONFIRMED,
        findings=(), timeline=timeline(job), ranks=rank_rows(job, late, (), ""), coverage={}, job_exit_code=1,
        exit_code=124, exit_code_reason="a hang", seconds={}, command="torchrun train.py", environment={},
        stacks=stack_groups(job), trace=trace_of(job),
    )  # fmt: skip
    return run_page(json.loads(json_text(report)), headline(report), report.trace)


def _step(number: int, kind: int) -> StepTiming:
    phases = [0.0] * len(PHASES)
    phases[0], phases[1], phases[2], phases[3] = 0.01 * kind, 0.3, 0.4, 0.2
    return StepTiming(
        number=number, end_s=2.0 * number, phases=tuple(phases), forward_cpu_s=0.3, backward_cpu_s=0.4, cpu_s=0.8,
        gc_s=0.0, compiles=0, evaluated=False,
    )  # fmt: skip


def _rank(rank: int, made: JobProcess, timings: Timings) -> JobProcess:
    assert made.agent is not None
    return replace(
        made,
        rank=rank,
        start_ticks=rank,
        pid=10_000 + rank,
        agent=replace(made.agent, pid=10_000 + rank, timings=timings),
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    job = made_job(count)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, cpu = time.monotonic(), time.process_time()
    page = page_of(job)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = f"{time.monotonic() - began:.2f} s, {time.process_time() - cpu:.2f} s of CPU"
    print(
        f"{count} ranks: {took}, {len(page.encode()) >> 10} KiB; memory {before >> 10} MiB before, {after >> 10} after"
    )


if __name__ == "__main__":
    main()
