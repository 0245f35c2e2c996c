"""What is said of clipping, checkpointing, losses, schedules and states from marks that were put together by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from hand_made import a_job, a_process, agent, event, frames

from diagnostics import diagnosis
from diagnostics.core.findings import Confidence, Role
from diagnostics.core.registry import discover
from diagnostics.diagnosis.silent import iterator_used_up, loader_gives_nothing
from diagnostics.diagnosis.training import (
    checkpointing_cuts_graph,
    factor_is_a_rate,
    gradients_clipped_while_scaled,
    loss_compares_all_pairs,
    schedule_too_fast,
    state_not_copied,
)
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import LifecycleEvent, Steps
from diagnostics.record.batch_data import BatchSource, LoaderPass, SourceKind
from diagnostics.record.parameter_prints import NO_GRADIENT, Look, OptimizedModel, ParameterPrints, TensorPrint
from diagnostics.record.training_marks import (
    ClippedScaled,
    GraphCut,
    LossSpread,
    Mark,
    RateGone,
    RateSquared,
    ScheduleOver,
    StateNotKept,
)

TRAIN = """\
net = Net()
schedule = LinearLR(optimizer, total_iters=60)
for x, y in loader:
    difference = (net(x) - y) ** 2
    loss = difference.mean()
    scaler.scale(loss).backward()
    clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(optimizer)
best = net.state_dict()
net.load_state_dict(best)
held = iter(val)
"""
READ = TensorPrint(checksum=1, size=0.5, first=0.5)
MODEL = OptimizedModel(
    optimizer=0, class_name="SGD", stepped=frames("train.py:8"), made=frames("train.py:2"),
    names=("body.weight", "head.weight"), shapes=("4x3", "1x4"), wrapper=(0, 0), sharded=(False,) * 2,
    in_model=(True,) * 2, learns=(True,) * 2,
)  # fmt: skip


def look(step: int, body: TensorPrint = NO_GRADIENT, optimizer: int = 0) -> Look:
    """Returns the look before one step, with this gradient of body.weight."""
    return Look(
        model=replace(MODEL, optimizer=optimizer), step=step, values=(READ, READ), gradients=(body, READ), rates=(0.1,),
        graded=1, closure=False, loss=1.0, backwards=step, world_size=1, number=None, wrappers=(),
    )  # fmt: skip


def job_of(
    *marks: Mark,
    looks: tuple[Look, ...] = (),
    steps: int = 60,
    events: tuple[LifecycleEvent, ...] = (),
    folder: Path | str = "/job",
) -> Job:
    """Returns the job of one rank that left these marks."""
    told = replace(agent(*events, steps=steps), steps=Steps(count=steps, backwards=steps))
    return a_job(a_process(100, agent=told, prints=ParameterPrints(looks=looks, marks=marks)), code=0, cwd=folder)


CLIPPED = ClippedScaled(optimizer=0, run=20, limit=1.0, norm=4e4, scale=65536.0, path=frames("train.py:7"))
LOADED = StateNotKept(
    loaded=True, root="Net", file="", since=30, step=60, taken=frames("train.py:9"), path=frames("train.py:10")
)
SAVED = replace(LOADED, loaded=False, file="/job/best.pt")
CUT = GraphCut(run=20, step=30, parameters=2, names=("body.weight", "body.bias"), path=frames("train.py:4"))
SPREAD = LossSpread(run=3, given=(32, 1), made=(32, 32), path=frames("train.py:6"), function="SubBackward0")
OVER = ScheduleOver(
    optimizer=0, step=32, scheduler="LinearLR", stepped=64, horizon=60, made=frames("train.py:2")
)  # fmt: skip
SQUARED = RateSquared(
    optimizer=0, step=16, base=0.01, peak=1e-4, rate=9e-5, stepped=3, made=frames("train.py:2")
)  # fmt: skip
SPENT = event("loader-spent", "dataset=Samples", "train.py:3", value=4)
LOOKS = (look(1), look(2), look(20))

FAULTS: dict[str, tuple[ModuleType, Job, str, tuple[str, ...], Confidence]] = {
    "a factor that is a rate": (
        factor_is_a_rate,
        job_of(SQUARED),
        "The learning rate is 0.0001 at most, where the optimizer was given 0.01: the function of LambdaLR at "
        "train.py:2 returns rates, and they are multiplied by the rate",
        ("train.py:2",),
        Confidence.LIKELY,
    ),
    "clipped before the scale is taken out": (
        gradients_clipped_while_scaled,
        job_of(CLIPPED),
        "Gradients are clipped to 1 at train.py:7 while they are still multiplied by the loss scale of 65536, which "
        "leaves 1.5e-05 of it: so in 20 and more steps in a row",
        ("train.py:7",),
        Confidence.CONFIRMED,
    ),
    "clipped on a device": (
        gradients_clipped_while_scaled,
        job_of(replace(CLIPPED, norm=None, scale=None)),
        "Gradients are clipped to 1 at train.py:7 while they are still multiplied by the loss scale: so in 20 and more "
        "steps in a row",
        ("train.py:7",),
        Confidence.LIKELY,
    ),
    "loaded back": (
        state_not_copied,
        job_of(SAVED, LOADED),
        "The state that was taken of Net at train.py:9, after 30 steps, is the model itself: to load it back at "
        "train.py:10, after 60, changes nothing",
        ("train.py:9", "train.py:10"),
        Confidence.CONFIRMED,
    ),
    "saved later": (
        state_not_copied,
        job_of(SAVED),
        "The state that was taken of Net at train.py:9, after 30 steps, is no copy: best.pt, saved at train.py:10 "
        "after 60, holds the weights of then",
        ("train.py:9", "train.py:10"),
        Confidence.LIKELY,
    ),
    "a checkpoint without gradients": (
        checkpointing_cuts_graph,
        job_of(CUT, looks=LOOKS),
        "body.weight and 1 more parameter never get a gradient: nothing that is given to the reentrant checkpoint at "
        "train.py:4 requires one, in 20 calls and more",
        ("train.py:4",),
        Confidence.CONFIRMED,
    ),
    "all pairs": (
        loss_compares_all_pairs,
        job_of(SPREAD),
        "The loss compares each prediction with each target of the batch: predictions of shape (32, 1) are spread to "
        "(32, 32), in 3 looks at its graph",
        ("train.py:4", "train.py:5", "train.py:6"),
        Confidence.LIKELY,
    ),
    "a schedule that is stepped twice": (
        schedule_too_fast,
        job_of(OVER, looks=LOOKS),
        "LinearLR of train.py:2 is stepped 2 times with each optimizer step: it was made for 60 steps and was over "
        "after 32 of 60",
        ("train.py:2",),
        Confidence.LIKELY,
    ),
    "an iterator that is used up": (
        iterator_used_up,
        job_of(events=(SPENT,)),
        "The loop at train.py:3 goes over an iterator that is used up: it ran zero times in 4 passes and more",
        ("train.py:11", "train.py:3"),
        Confidence.CONFIRMED,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_lost_is_told_with_the_line_to_change(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    signature, job, title, lines, confidence = FAULTS[name]

    found = signature.match(a_job(*job.processes, code=0, cwd=tmp_path))

    assert found is not None
    assert (found.finding.title, found.locations, found.culprit_ranks) == (title, lines, (0,))
    assert (found.failure_class, found.finding.role) == (signature.CLASS, Role.ROOT)
    assert found.finding.confidence is confidence


GONE = RateGone(
    optimizer=0, step=60, run=30, first=31, rate=0.0, peak=0.1, scheduler="LinearLR", stepped=120, horizon=60, made=(),
    path=(),
)  # fmt: skip
QUIET = {
    "the rate rose above the square after all": job_of(SQUARED, replace(SQUARED, step=24, peak=0.01)),
    "gradients came another way": job_of(CUT, looks=(look(1), look(2, READ), look(20))),
    "nothing is known of these parameters": job_of(replace(CUT, names=("other",)), looks=LOOKS),
    "one look at a square": job_of(replace(SPREAD, run=1)),
    "a schedule for as many steps as it is given": job_of(
        replace(OVER, horizon=120, stepped=120, step=60), looks=LOOKS
    ),
    "a warm-up that is over": job_of(replace(OVER, horizon=6, stepped=16, step=8), looks=LOOKS),
    "a run that is cut short": job_of(OVER, looks=LOOKS, steps=36),
    "two optimizers": job_of(OVER, looks=(*LOOKS, look(3, optimizer=1))),
    "another finding says more": job_of(OVER, GONE, looks=LOOKS),
    "a library asks an iterator again": job_of(
        events=(event("loader-spent", "", "/env/site-packages/l/x.py:3", "train.py:3"),)
    ),
}
SIGNATURES = {one[0].CODE: one[0] for one in FAULTS.values()}


@pytest.mark.parametrize("reason", QUIET)
def test_what_looks_like_it_is_no_fault(reason: str) -> None:
    assert [code for code, one in SIGNATURES.items() if one.match(QUIET[reason]) is not None] == []


FACTS = {"length": "20", "batch_size": "32", "drop_last": "1", "sampler": "DistributedSampler", "num_replicas": "2"}


def a_pass(number: int, batches: int, *, ended: bool = True, trained: int = 0) -> LoaderPass:
    """Returns one pass over a loader."""
    return LoaderPass(
        number=number, batches=batches, printed=0, rows=0, order=0, total=0, index_order=0, indexed=True, epoch=None,
        epoch_now=None, ended=ended, steps=trained, optimizer=0, trained=trained, own_epoch_calls=0,
        other_epoch_calls=0, epoch_path=(), began_s=1.0, log=(),
    )  # fmt: skip


def test_a_loader_that_never_gives_a_batch_is_told_with_the_reason() -> None:
    training = BatchSource(
        kind=SourceKind.LOADER, built=frames("train.py:3"), sampler=(), facts={"length": "400"},
        passes=tuple(a_pass(number, 9, trained=9) for number in range(3)),
    )  # fmt: skip

    def said(*passes: LoaderPass, other: LoaderPass | None = None, **facts: str) -> str:
        empty = BatchSource(
            kind=SourceKind.LOADER, built=frames("train.py:11"), sampler=frames("train.py:1"), facts={**FACTS, **facts},
            passes=passes,
        )  # fmt: skip
        of_other = replace(empty, passes=(other or passes[0],))
        ranks = [
            a_process(100 + rank, rank=rank, agent=agent(pid=100 + rank, sources=(training, source)))
            for rank, source in enumerate((empty, of_other))
        ]
        found = loader_gives_nothing.match(a_job(*ranks, code=0))
        return f"{found.locations[0]} {found.finding.title}" if found is not None else ""

    twice = (a_pass(0, 0), a_pass(1, 0))
    assert said(*twice) == (
        "train.py:11 The loader of train.py:11 hands over no batch, in none of 2 passes: drop_last leaves out what is "
        "less than a batch of 32, and each rank has a part of 20 samples"
    )
    assert said(*twice, drop_last="0") == (
        "train.py:1 The loader of train.py:11 hands over no batch, in none of 2 passes: its DistributedSampler gives "
        "no index of 20 samples"
    )
    assert said(twice[0]) == ""
    assert said(twice[0], a_pass(1, 1)) == ""
    assert said(twice[0], a_pass(1, 0, ended=False)) == ""
    assert said(*twice, length="0") == ""
    assert said(*twice, other=a_pass(0, 1)) == ""


def test_all_signatures_of_one_rank_are_asked_in_these_files() -> None:
    folder = Path(__file__).parent
    here = [folder / name for name in ("test_training_by_hand.py", "test_lost_gradients_by_hand.py")]
    parts = ("kept_models", "loading", "losses", "schedules", "source", "updates")
    deeper = [file for part in parts for file in sorted((folder / part).glob("test_*_by_hand.py"))]
    tests = "\n".join(file.read_text() for file in (*here, *deeper))
    modules = [module for code, module in discover(diagnosis, broken=[]).items() if code.startswith("D9")]

    assert len(modules) >= 20
    names = [module.__name__.rpartition(".")[2] for module in modules]
    assert [name for name in names if len(re.findall(rf"\b{name}\b", tests)) < 2] == []  # imported and asked
