"""What is told of slow jobs, and what is left alone: steps and looks put together by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import hand_made as made
import pytest
from made_steps import job, rank, step

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.core.frame import Frame
from diagnostics.core.registry import discover
from diagnostics.diagnosis import slow
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.object_marks import ContainerGrows
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.step_stacks import SeenStack
from diagnostics.record.step_timings import WorkerStages

FAST = {"data": 0.002, "forward": 0.01, "backward": 0.1, "optimizer": 0.002, "other": 0.002}
LATE = {"data": 0.002, "forward": 0.01, "backward": 0.025, "optimizer": 0.002, "other": 0.077}
EQUAL = {**FAST, "backward": 0.03}


def told(one: Job) -> list[tuple[str, str, tuple[int, ...]]]:
    found: list[Match] = [match for module in discover(slow).values() if (match := module.match(one)) is not None]
    assert all((match.outcome, match.is_root) == (JobOutcome.SLOW, True) for match in found)
    return [(match.finding.code, match.failure_class, match.culprit_ranks) for match in found]


def waiting() -> Any:
    return rank(0, FAST, waits=0.075)


def late(**fields: Any) -> Any:
    return rank(1, LATE, **fields)


QUIET = {0: 0.0, 1: 0.0}


def test_the_rank_that_the_others_wait_for_is_named_with_what_it_does() -> None:
    seen = (SeenStack(count=20, frames=made.frames("helpers.py:7", "train.py:31")), SeenStack(count=4, frames=()))
    module = next(module for code, module in discover(slow).items() if code == "D801")
    match = module.match(job(waiting(), late(step_stacks=seen), delays=QUIET))

    assert match.finding.title == (
        "Rank 0 waits for rank 1 in 100 % of the steps, 75.0 ms or 65 % of each: it computes something beside the "
        "model (other host work: 75.0 ms more than any other rank)"
    )
    assert match.finding.confidence is Confidence.CONFIRMED
    assert (match.culprit_ranks, match.victim_ranks, match.locations) == ((1,), (0,), ("helpers.py:7", "train.py:31"))
    assert match.finding.evidence[0].observed == (
        "rank  step ms  data wait  forward  backward  waits for ranks  optimizer  other host work  no CPU\n"
        "   0      116       2.00     10.0      25.0             75.0       2.00             2.00    0.00\n"
        "   1      116       2.00     10.0      25.0             0.00       2.00             77.0    0.00"
    )


MODULE = Frame(file="/env/lib/python3.11/site-packages/torch/nn/modules/module.py", line=9, function="_call_impl")


@pytest.mark.parametrize(
    ("forward", "locations"), [(0.01, ("probes.py:4", "train.py:31")), (0.08, ())], ids=["mostly", "less than training"]
)
def test_a_rank_that_evaluates_alone_is_told_by_the_line_that_calls_the_model(
    forward: float, locations: tuple[str, ...]
) -> None:
    phases = {**LATE, "other": 0.002, "forward": forward, "evaluation": 0.075}
    inner = made.frames("model.py:7"), made.frames("probes.py:4", "train.py:31"), made.frames("train.py:20")
    seen = (
        SeenStack(count=16, frames=(*inner[0], MODULE, MODULE, *inner[0], MODULE, *inner[1])),
        SeenStack(count=4, frames=(*inner[0], MODULE, *inner[2])),
        SeenStack(count=4, frames=inner[2]),
    )
    module = next(module for code, module in discover(slow).items() if code == "D801")
    other = rank(0, {**FAST, "forward": forward}, waits=0.075)
    match = module.match(job(other, rank(1, phases, step_stacks=seen), delays=QUIET))
    assert (match.culprit_ranks, match.locations) == ((1,), locations)
    assert "it computes something beside the model (evaluation: " in match.finding.title


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(job(rank(0, EQUAL), rank(1, EQUAL), delays=QUIET), id="ranks that are alike"),
        pytest.param(job(waiting(), late()), id="nobody looked: whether it lacked a CPU is unknown"),
        pytest.param(
            job(waiting(), late(cpu_s=0.03), delays={0: 0.0, 1: 0.65}, others=0.6), id="a neighbour took its CPU"
        ),
        pytest.param(job(rank(0, FAST, waits=0.075, count=40), late(count=40), delays=QUIET), id="too few steps"),
        pytest.param(job(waiting(), delays=QUIET), id="one process"),
        pytest.param(job(made.a_process(), delays=QUIET), id="no agent"),
    ],
)
def test_no_rank_is_called_a_straggler(healthy: Job) -> None:
    assert told(healthy) == []


def test_stages_of_a_pipeline_may_differ() -> None:
    stages = [rank(0, FAST, waits=0.075), rank(1, LATE)]
    alone = [
        made.a_process(100 + at, rank=at, agent=made.agent(pid=100 + at, steps=100, timings=one.agent.timings))
        for at, one in enumerate(stages)
    ]
    assert told(job(*alone, delays=QUIET)) == []


def test_a_rank_that_computes_more_is_late_by_its_own_doing_on_a_crowded_machine_too() -> None:
    crowded = job(waiting(), late(), delays={0: 0.1, 1: 0.5}, others=0.7)
    assert told(crowded) == [("D801", "straggler", (1,))]


def test_which_rank_is_last_changes_and_nobody_is_blamed() -> None:
    def mixed(number: int) -> Any:
        one = rank(number, EQUAL)
        steps = tuple(
            step(at, 1.0 + 0.12 * at, LATE if (at + number) % 2 else FAST, waits=0.0 if (at + number) % 2 else 0.075)
            for at in range(1, 101)
        )
        timings = type(one.agent.timings)(steps=steps, count=100, threads=1, cpus=4)
        return made.a_process(
            100 + number, rank=number, agent=type(one.agent)(**{**fields_of(one.agent), "timings": timings})
        )

    assert told(job(mixed(0), mixed(1), delays=QUIET)) == []


def fields_of(agent: Any) -> dict[str, Any]:
    return {name: getattr(agent, name) for name in agent.__slots__}


STARVED = {"data": 0.08, "forward": 0.01, "backward": 0.01, "optimizer": 0.002, "other": 0.002}
READS = (WorkerStages(loader=0, worker=0, batches=100, fetch_s=8.0, fetch_cpu_s=0.5, collate_s=0.1, collate_cpu_s=0.1,
                      cycle_s=10.0),)  # fmt: skip


def starved(**fields: Any) -> list[Any]:
    return [
        rank(number, STARVED, timings={"stages": READS}, loader={"getitem": "/job/data.py:9"}, cpu_s=0.03, **fields)
        for number in (0, 1)
    ]


def test_ranks_that_wait_for_their_data_are_told_with_the_stage_and_the_number_of_workers() -> None:
    module = next(module for code, module in discover(slow).items() if code == "D802")
    match = module.match(job(*starved(), delays=QUIET))

    assert match.finding.title == (
        "Each rank waits 80.0 ms of each step for data, 77 %: a batch takes 80.0 ms to make, by no workers; slow is "
        "reading samples: __getitem__ waits, for files or a network"
    )
    assert match.finding.fix is not None
    assert match.finding.fix.text == (
        "num_workers=4, persistent_workers=True in this DataLoader; read fewer, larger files, from a local disk, or "
        "ahead of time. Estimate: 77 % of the step"
    )
    assert match.locations == ("train.py:3", "data.py:9")


@pytest.mark.parametrize(
    "healthy",
    [
        pytest.param(job(*starved()), id="nobody looked"),
        pytest.param(job(*starved(), delays={0: 0.7, 1: 0.7}, others=0.6), id="neighbours took the CPUs"),
        pytest.param(job(*starved(count=40), delays=QUIET), id="too few steps"),
        pytest.param(job(rank(0, EQUAL), rank(1, EQUAL), delays=QUIET), id="data that comes in time"),
    ],
)
def test_loaders_that_keep_up_or_that_cannot_be_judged_are_left_alone(healthy: Job) -> None:
    assert told(healthy) == []


def crowded(threads: int) -> list[Any]:
    return [rank(number, EQUAL, timings={"threads": threads}) for number in (0, 1)]


def test_threads_that_take_the_cpus_from_each_other_are_told_with_the_number_that_fits() -> None:
    module = next(module for code, module in discover(slow).items() if code == "D803")
    match = module.match(job(*crowded(8), delays={0: 0.5, 1: 0.5}, queue=8))

    assert match.finding.title == (
        "2 ranks with 8 threads each share 4 CPUs: 50 % of the time a rank is ready to run and has none"
    )
    assert match.finding.fix is not None
    assert match.finding.fix.text.startswith("OMP_NUM_THREADS=2 before the start, or torch.set_num_threads(2)")


def test_a_queue_of_own_threads_is_proof_beside_neighbours_too_and_theirs_is_not() -> None:
    delays = {0: 0.5, 1: 0.5}
    assert told(job(*crowded(8), delays=delays, others=0.7, queue=8)) == [("D803", "cpu-oversubscribed", ())]
    assert told(job(*crowded(8), delays=delays, others=0.7, queue=2)) == []
    assert told(job(*crowded(2), delays=delays, queue=2)) == []


KEPT = "kept = []\nfor x in data:\n    out = model(x)\n    loss = f(out)\n    loss.backward()\n    kept.append(out)\n"


def growing(rate: float, *, passes: int = 4, **fields: Any) -> Job:
    ranks = [
        rank(number, EQUAL, count=500, passes=passes, events=(made.event("optimizer", "", "train.py:1"),))
        for number in (0, 1)
    ]
    return job(*ranks, delays=QUIET, grows={0: rate, 1: rate}, **fields)


def test_memory_that_grows_with_each_step_is_told_with_the_line_that_keeps_it(tmp_path: Any) -> None:
    module = next(module for code, module in discover(slow).items() if code == "D804")
    match = module.match(growing(20 << 20, cwd=tmp_path, files={"train.py": KEPT}))

    assert match.locations == ("train.py:6",)
    assert match.finding.confidence is Confidence.CONFIRMED
    assert match.finding.title == (
        "The memory of ranks 0, 1 grows by 942 KiB in each step, by 330 MiB so far, and does not stop; train.py:6 "
        "keeps what each step computed, with its graph"
    )


def test_memory_that_grows_in_the_first_pass_or_a_little_or_in_a_buffer_is_left_alone(tmp_path: Any) -> None:
    program = {"cwd": tmp_path, "files": {"train.py": KEPT}}
    assert told(growing(20 << 20, **program)) == [("D804", "memory-leak", ())]
    assert told(growing(20 << 20, passes=1, **program)) == []
    assert told(growing(2 << 20, **program)) == []
    program["files"] = {"train.py": KEPT.replace("append(out)", "append(out.item())")}
    assert told(growing(20 << 20, **program)) == []


METER = """def entropy(logits):
    p = logits.softmax(-1)
    return -(p * p.log()).sum()
for x in data:
    out = model(x)
    loss = f(out)
    loss.backward()
    meter.add(loss=loss.item(), entropy=entropy(out))
"""


def test_what_the_project_computes_of_an_output_and_keeps_is_named_and_a_number_is_not(tmp_path: Any) -> None:
    module = next(module for code, module in discover(slow).items() if code == "D804")
    assert module.match(growing(20 << 20, cwd=tmp_path, files={"train.py": METER})).locations == ("train.py:8",)
    number = METER.replace(".sum()", ".sum().item()")
    assert module.match(growing(20 << 20, cwd=tmp_path, files={"train.py": number})) is None


HELD = ContainerGrows(
    step=320, path="board.errors", name="errors", owner="Board", file="/job/meters.py", length=320, before=160,
    steps=160, sum=False, stepped=made.frames("train.py:5"),
)  # fmt: skip


def test_what_is_seen_to_hold_ever_more_graphs_is_named_where_it_is_added_to_on_one_rank_too(tmp_path: Any) -> None:
    module = next(module for code, module in discover(slow).items() if code == "D804")
    files = {
        "train.py": "import meters\nboard.add(model(x))\n",
        "meters.py": "self.count += 1\nself.errors.append(e)\n",
    }
    stepped = (made.event("optimizer", "", "train.py:1"),)

    def job_of(mark: ContainerGrows) -> Job:
        prints = ParameterPrints(marks=(mark,))
        ranks = [rank(number, EQUAL, count=500, passes=4, events=stepped) for number in (0, 1)]
        told_ranks = [replace(one, prints=prints if one.rank == 0 else ParameterPrints()) for one in ranks]
        return job(*told_ranks, delays=QUIET, grows={0: 20 << 20}, cwd=tmp_path, files=files)

    match = module.match(job_of(HELD))
    assert (match.culprit_ranks, match.locations) == ((0,), ("meters.py:2",))
    assert match.finding.title.endswith("meters.py:2 keeps what each step computed, with its graph, in board.errors")
    assert module.match(job_of(replace(HELD, step=80))) is None  # it grew early in the run alone
    assert module.match(job_of(replace(HELD, name="others"))) is None  # nothing adds to it


def test_tensors_without_graphs_are_told_where_they_are_most_of_what_grows_pass_after_pass(tmp_path: Any) -> None:
    module = next(module for code, module in discover(slow).items() if code == "D804")
    files = {"train.py": "import probes\n", "probes.py": "self.errors[name].append(output.detach())\n"}
    stepped = (made.event("optimizer", "", "train.py:1"),)

    def match_of(mark: ContainerGrows, passes: int = 4, grows: int = 20 << 20) -> Any:
        ranks = [
            replace(
                rank(number, EQUAL, count=500, passes=passes, events=stepped), prints=ParameterPrints(marks=(mark,))
            )
            for number in (0, 1)
        ]
        return module.match(job(*ranks, delays=QUIET, grows={0: grows, 1: grows}, cwd=tmp_path, files=files))

    large = replace(HELD, entry_bytes=64 << 20)
    match = match_of(large)
    assert match.locations == ("probes.py:1",)
    assert match.finding.title.endswith("probes.py:1 keeps what each step computed, in board.errors")
    assert "64 MiB each" in match.finding.evidence[-1].observed
    assert match_of(replace(large, entry_bytes=64 << 10)) is None  # something else grows
    assert match_of(large, passes=1) is None  # a cache that the first pass fills
    assert match_of(large, passes=0) is None  # a replay buffer: there are no passes
    assert "by 82.5 MiB so far" in match_of(large, grows=5 << 20).finding.title
    assert match_of(large, grows=3 << 20) is None  # what any allocator may take
    assert match_of(replace(HELD, entry_bytes=0), grows=5 << 20) is None  # graphs: what they hold is not known


def test_on_a_device_host_times_are_no_proof() -> None:
    device = {"on_device": True, "stages": READS, "threads": 8}
    late_there = [rank(0, FAST, waits=0.075, timings=device), rank(1, LATE, timings=device)]
    starved_there = [rank(number, STARVED, timings=device, cpu_s=0.03) for number in (0, 1)]
    assert told(job(*late_there, delays=QUIET)) == told(job(*starved_there, delays={0: 0.5, 1: 0.5}, queue=8)) == []


def test_loaders_that_compute_get_no_more_workers_than_there_are_idle_cpus() -> None:
    computes = (WorkerStages(loader=0, worker=0, batches=100, fetch_s=8.0, fetch_cpu_s=7.9, collate_s=0.1,
                             collate_cpu_s=0.1, cycle_s=10.0),)  # fmt: skip
    ranks = [rank(number, STARVED, timings={"stages": computes}, cpu_s=0.1, augments=True) for number in (0, 1)]
    assert told(job(*ranks, delays=QUIET)) == [("D802", "data-starved", ())]
    assert told(job(*ranks, delays=QUIET, others=0.7)) == []
