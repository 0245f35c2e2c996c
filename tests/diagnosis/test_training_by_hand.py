"""What is said of marks of one rank's own training that were put together by hand, and where nothing is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hand_made import a_job, a_process, agent, event, frames

from diagnostics.core.findings import Confidence, Role
from diagnostics.diagnosis.silent import weights_differ
from diagnostics.diagnosis.training import (
    checkpoint_empty,
    checkpoint_not_loaded,
    checkpoint_written_by_several,
    eval_mode_left_on,
    evaluated_in_train_mode,
    gradients_died,
    gradients_never_cleared,
    gradients_reach_little,
    layers_never_trained,
    learning_rate_gone,
    loss_without_graph,
    losses_left_out,
    ranks_step_unequally,
    resumed_from_the_start,
    scaler_skips_for_ever,
)
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import CollectiveCall, Construction, Steps
from diagnostics.record.parameter_prints import NO_GRADIENT, Look, OptimizedModel, ParameterPrints, TensorPrint
from diagnostics.record.training_marks import (
    EvalModeLeft,
    EvaluatedInTrain,
    FirstNotFinite,
    KeptGradients,
    LeafLosses,
    LossLeftOut,
    Mark,
    NothingLoaded,
    RateGone,
    ReadState,
    SavedFile,
    ScalerSkips,
    TensorRange,
)

TRAIN = """\
net = Net()
optimizer = SGD(net.parameters(), lr=1)
scheduler = LambdaLR(optimizer, decay)
for x in loader:
    loss = net(x).log()
    if not torch.isfinite(loss):
        continue
    loss = torch.tensor(loss.item(), requires_grad=True)
    loss.backward()
    optimizer.step()
    scheduler.step()
net.eval()
"""
AT = {name: frames(f"train.py:{line}") for name, line in (("forward", 5), ("backward", 9), ("step", 10), ("eval", 12))}
NAN = float("nan")


def job_of(
    *marks: Mark,
    steps: int = 40,
    backwards: int = 40,
    running: bool = False,
    folder: Path | str = "/job",
    **fields: Any,
) -> Job:
    """Returns the job of one rank that left these marks."""
    told = agent(steps=steps, **fields)
    told = replace(told, steps=Steps(count=steps, backwards=backwards))
    process = a_process(100, agent=told, prints=ParameterPrints(marks=marks))
    return a_job(process, code=0, cwd=folder, facts={"exit_code": None} if running else None)


KEPT = KeptGradients(optimizer=0, step=21, run=20, read=True, stepped=AT["step"], backward=AT["backward"])
LEFT = EvalModeLeft(
    optimizer=0,
    step=31,
    run=10,
    trained=21,
    root="Net",
    module="2 (Dropout)",
    evaluating=AT["eval"],
    stepped=AT["step"],
)
IN_TRAIN = EvaluatedInTrain(root="Net", module="1 (BatchNorm1d)", runs=2, trained=40, optimizers=1, path=AT["forward"])
GONE = RateGone(
    optimizer=0, step=30, run=20, first=11, rate=0.0, peak=0.1, scheduler="LambdaLR", stepped=60, horizon=20,
    made=frames("train.py:3"), path=AT["step"],
)  # fmt: skip
SKIPPED = LossLeftOut(run=32, step=8, backwards=8, loss=NAN, name="loss", path=AT["forward"])
TENSOR = TensorRange(shape="4x2", read=8, bad=0, least=-1.5, most=1.0, rms=0.5)
ORIGIN = FirstNotFinite(
    step=8, modules=3, module="body.log", class_name="Log", inputs=(TENSOR,), outputs=(replace(TENSOR, bad=3),),
    weights_finite=True,
)  # fmt: skip
SCALED = ScalerSkips(optimizer=0, run=25, steps=3, path=AT["step"])
LEAF = LeafLosses(run=40, backwards=40, path=AT["backward"])
LOADED = NothingLoaded(
    model=1, root="Net", keys=2, given=("module.a",), wanted=("a",), step=0, path=frames("train.py:1")
)
NOT_TAKEN = replace(LOADED, given=("a",), fits=True)
SAVED = SavedFile(file="/job/last.pt", began_ns=10**9, ended_ns=2 * 10**9, empty=True, step=9, path=AT["eval"])

FAULTS: dict[str, tuple[ModuleType, Job, str, str]] = {
    "nothing cleared": (
        gradients_never_cleared,
        job_of(KEPT),
        "Nothing clears the gradients between the steps at train.py:10: 20 and more in a row used the sum of all "
        "gradients since the first",
        "train.py:10",
    ),
    "eval left on": (
        eval_mode_left_on,
        job_of(LEFT),
        "Net is trained in eval mode from step 22 on: eval() was called (train.py:12) and train() was not called again",
        "train.py:12",
    ),
    "train in evaluation": (
        evaluated_in_train_mode,
        job_of(IN_TRAIN),
        "Net is evaluated in train mode at train.py:5: 1 (BatchNorm1d) takes its statistics of the batches it is to be "
        "judged by, and eval() is never called",
        "train.py:5",
    ),
    "stepped too often": (
        learning_rate_gone,
        job_of(GONE),
        "The learning rate is 0 from step 11 of 40 on, after 0.1 at most: these steps change nothing, since LambdaLR "
        "was stepped 60 times in 30 optimizer steps",
        "train.py:11",
    ),
    "made for fewer steps": (
        learning_rate_gone,
        job_of(replace(GONE, stepped=30)),
        "The learning rate is 0 from step 11 of 40 on, after 0.1 at most: these steps change nothing, since LambdaLR "
        "ends after 20 steps",
        "train.py:3",
    ),
    "a guard skips all": (
        losses_left_out,
        job_of(replace(ORIGIN, step=0, module=None), SKIPPED, ORIGIN, steps=8, backwards=8),
        "The loss is nan after 8 steps and for good (first in the output of Log body.log): 32 and more forward passes "
        "led to no backward pass, and the job went on",
        "train.py:6",
    ),
    "a guard skips each step": (
        losses_left_out,
        job_of(replace(SKIPPED, name="", backwards=40), steps=8, backwards=60),
        "The loss is nan after 8 steps and for good: 32 and more backward passes led to no step, and the job went on",
        "train.py:6",
    ),
    "the scaler skips all": (
        scaler_skips_for_ever,
        job_of(SCALED, steps=3),
        "The loss scaler at train.py:10 skipped 25 and more steps in a row, after 3 that were made: the gradients are "
        "not finite whatever the scale",
        "train.py:10",
    ),
    "a loss made anew": (
        loss_without_graph,
        job_of(LEAF),
        "backward() at train.py:9 is called on a tensor that no model computed: no parameter gets a gradient",
        "train.py:8",
    ),
    "nothing loaded": (
        checkpoint_not_loaded,
        job_of(LOADED),
        "Nothing was loaded into Net at train.py:1: none of 2 names in the state is one of its own",
        "train.py:1",
    ),
    "nothing taken out of the file": (
        checkpoint_not_loaded,
        job_of(NOT_TAKEN),
        "Nothing was loaded into Net at train.py:1: it is given its own state back, and nothing of the 2 entries of "
        "the file that fit it",
        "train.py:1",
    ),
    "an empty checkpoint": (
        checkpoint_empty,
        job_of(SAVED),
        "last.pt was saved at train.py:12 with a model that has no entry",
        "train.py:12",
    ),
}
OTHER_CLASS = {"stepped too often": "wrong-schedule"}  # than the one of its signature


def test_a_rate_that_is_lowered_each_few_batches_is_a_schedule_that_was_meant_for_epochs() -> None:
    decayed = replace(GONE, rate=1e-26, scheduler="StepLR", stepped=29, horizon=10)
    found = learning_rate_gone.match(job_of(decayed))
    assert found is not None
    assert found.failure_class == "wrong-schedule"
    assert found.finding.title.endswith(
        "these steps change nothing, since StepLR lowers it every 10 steps and is stepped 29 times in 30"
    )
    assert found.finding.fix is not None
    assert found.finding.fix.text.startswith("call scheduler.step() once an epoch")


@pytest.mark.parametrize("name", FAULTS)
def test_what_a_rank_shows_is_told_with_the_line_to_change(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    signature, job, title, line = FAULTS[name]
    job = a_job(*job.processes, code=0, cwd=tmp_path)

    found = signature.match(job)

    assert found is not None
    assert (found.finding.title, found.locations[0], found.culprit_ranks) == (title, line, (0,))
    assert (found.failure_class, found.finding.role) == (OTHER_CLASS.get(name, signature.CLASS), Role.ROOT)


QUIET = {
    "few skips by now, while the job runs": job_of(replace(SKIPPED, run=8), steps=8, backwards=8, running=True),
    "train mode again later": job_of(LEFT, steps=60),
    "a trial of three steps": job_of(replace(IN_TRAIN, trained=3)),
    "two optimizers: a generator": job_of(replace(IN_TRAIN, optimizers=2)),
    "a schedule that ends at 0 with the run": job_of(replace(GONE, first=35, run=10, step=44), steps=44),
    "a rate that rose again": job_of(GONE, steps=90),
    "lowered on a plateau": job_of(replace(GONE, scheduler="ReduceLROnPlateau")),
    "passes went on after the guard": job_of(SKIPPED, steps=20, backwards=20),
    "steps went on after bad losses": job_of(replace(SKIPPED, name="", backwards=40), steps=30, backwards=70),
    "steps at bad losses: another finding": job_of(replace(SKIPPED, name="", backwards=40), steps=9, backwards=41),
    "the scaler found its scale": job_of(SCALED, steps=30),
    "some losses without a graph": job_of(replace(LEAF, backwards=80)),
    "an empty state before any step": job_of(replace(SAVED, step=0)),
    "a checkpoint that was filled later": job_of(SAVED, replace(SAVED, empty=False)),
    "one rank writes a file twice": job_of(SAVED, replace(SAVED, began_ns=1), replace(SAVED, empty=False)),
}
SIGNATURES = [one[0] for one in FAULTS.values()]


@pytest.mark.parametrize("reason", QUIET)
def test_what_looks_like_it_is_no_fault(reason: str) -> None:
    assert [one.CODE for one in SIGNATURES if one.match(QUIET[reason]) is not None] == []


def test_gradients_on_a_device_are_sure_only_where_no_line_clears_any(tmp_path: Path) -> None:
    unread = replace(KEPT, read=False)
    (tmp_path / "train.py").write_text(TRAIN)
    told = gradients_never_cleared.match(job_of(unread, folder=tmp_path))
    assert told is not None
    assert told.finding.confidence is Confidence.LIKELY

    (tmp_path / "train.py").write_text(TRAIN + "for p in net.parameters(): p.grad.data.zero_()\n")
    assert gradients_never_cleared.match(job_of(unread, folder=tmp_path)) is None


def test_the_one_line_that_clears_gradients_elsewhere_is_the_one_to_move(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("optimizer.zero_grad()\n" + TRAIN)
    told = gradients_never_cleared.match(job_of(KEPT, folder=tmp_path))
    assert told is not None
    assert told.locations[0] == "train.py:1"


def two_ranks(*prints: ParameterPrints, steps: tuple[int, int] = (40, 40), wrapped: bool = True) -> Job:
    """Returns the job of two ranks in DDP, with as many backward passes on both."""
    processes = []
    for rank, one in enumerate(prints):
        events = [event("ddp", "DistributedDataParallel", "train.py:1")] if wrapped else []
        told = replace(agent(*events, pid=100 + rank), steps=Steps(count=steps[rank], backwards=40))
        processes.append(a_process(100 + rank, rank=rank, agent=told, prints=one))
    return a_job(*processes, code=0)


def saves(began_ns: int, ended_ns: int, file: str = "/job/last.pt") -> ParameterPrints:
    """Returns what a rank that saved once left."""
    return ParameterPrints(marks=(replace(SAVED, file=file, began_ns=began_ns, ended_ns=ended_ns, empty=False),))


def test_two_ranks_in_one_file_at_once_are_told_and_no_others() -> None:
    found = checkpoint_written_by_several.match(two_ranks(saves(10, 30), saves(20, 40)))
    assert found is not None
    assert found.finding.title == "Ranks 0, 1 wrote last.pt at the same time at train.py:12"
    assert checkpoint_written_by_several.match(two_ranks(saves(10, 20), saves(20, 40))) is None
    assert checkpoint_written_by_several.match(two_ranks(saves(10, 30), saves(20, 40, "/job/other.pt"))) is None


MODEL = OptimizedModel(
    optimizer=0, class_name="SGD", stepped=AT["step"], made=frames("train.py:2"), names=("a.weight",), shapes=("4x3",),
    wrapper=(1,), sharded=(False,), in_model=(True,), loose=(("head.weight", "2x4"),), loose_count=1, loaded=False,
)  # fmt: skip
VALUE = TensorPrint(checksum=7, size=0.5, first=0.5)


def look(
    step: int, *, model: OptimizedModel = MODEL, loose: int = 7, gradient: float = 0.5, loss: float = 2.5, live: int = 0
) -> Look:
    """Returns the look before one step."""
    return Look(
        model=model, step=step, values=(replace(VALUE, checksum=step),), rates=(0.1,), graded=1, closure=False,
        gradients=(TensorPrint(checksum=step, size=gradient, first=gradient),), loss=loss, backwards=step, world_size=1,
        number=None, wrappers=(),
        loose=((replace(VALUE, checksum=loose), TensorPrint(checksum=live or step, size=gradient)),),
    )  # fmt: skip


def looks(*found: Look) -> Job:
    """Returns the job of one rank with these looks."""
    return a_job(a_process(100, agent=agent(steps=40), prints=ParameterPrints(looks=found)), code=0)


def test_a_layer_in_no_optimizer_that_never_changes_is_told_where_it_was_to_learn() -> None:
    def said(**model: Any) -> str:
        told = layers_never_trained.match(looks(*(look(step, model=replace(MODEL, **model)) for step in (1, 2, 20))))
        return told.finding.title if told is not None else ""

    expected = (
        "head.weight never change, though they have gradients: the optimizer made at train.py:2 does not hold them, "
    )
    assert said() == expected + "it was given others only"
    assert said(late=1, loaded=True) == expected + "their layer was made after it"
    assert said(loaded=True) == ""
    assert layers_never_trained.match(looks(look(1), look(20, loose=8))) is None
    assert layers_never_trained.match(looks(look(1), look(5))) is None
    assert layers_never_trained.match(looks(look(1, live=4), look(2, live=4), look(20, live=4))) is None
    other = look(3, model=replace(MODEL, optimizer=1))
    assert layers_never_trained.match(looks(look(1), other, look(20))) is None


def test_layers_of_a_plain_list_are_told_with_the_line_that_makes_them() -> None:
    made = Construction(
        sequence=1, class_name="Block", path=frames("blocks.py:3", "train.py:9", "train.py:30"), own=1
    )  # fmt: skip
    plain = replace(MODEL, loose=(("net.<Block>[0].up.weight", "2x4"),), loose_count=8)
    found = looks(*(look(step, model=plain) for step in (1, 2, 20)))
    rank = replace(found.ranks[0], agent=agent(steps=40, constructions=(made,)))
    told = layers_never_trained.match(replace(found, processes=(rank,), ranks=(rank,)))
    assert told is not None
    assert told.finding.title == (
        "net.<Block>[0].up.weight and 7 more parameters never change, though they have gradients: the optimizer made "
        "at train.py:2 does not hold them, since parameters() does not list the modules of a plain list or dict"
    )
    assert told.locations[:2] == ("train.py:9", "train.py:2")


def test_gradients_that_died_under_a_loss_that_stands_still_are_told() -> None:
    def said(*found: Look) -> str:
        told = gradients_died.match(looks(*found))
        return told.finding.title if told is not None else ""

    dead = [look(step, gradient=0.0) for step in (10, 20, 50)]
    assert said(look(1), *dead) == (
        "All gradients are exactly 0 from step 10 on at the latest, while the loss stands at 2.5"
    )
    assert said(look(1), *(replace(one, loss=0.0) for one in dead)) == ""
    assert said(look(1), *dead[:2], replace(dead[2], loss=2.4)) == ""
    assert said(look(1), *dead, look(100)) == ""
    assert said(*dead) == ""


def test_ranks_that_left_out_a_step_by_themselves_are_told_and_not_as_weights_that_differ() -> None:
    shared = ParameterPrints(looks=(look(1),))
    job = two_ranks(shared, shared, steps=(40, 38))
    found = ranks_step_unequally.match(job)
    assert found is not None
    assert found.finding.title == (
        "Rank 1 made 38 optimizer steps, the others 40, over 40 backward passes each: from the first one left out on "
        "their models differ"
    )
    assert found.culprit_ranks == (1,)
    assert weights_differ.match(job) is None
    assert ranks_step_unequally.match(two_ranks(shared, shared)) is None
    assert ranks_step_unequally.match(two_ranks(shared, shared, steps=(40, 38), wrapped=False)) is None
    alone = ParameterPrints(looks=(look(1, model=replace(MODEL, wrapper=(0,))),))
    assert ranks_step_unequally.match(two_ranks(alone, alone, steps=(40, 38))) is None


READ = ReadState(file=SAVED.file, counter=7, optimizer=True, path=frames("train.py:1"))


def test_a_resumed_run_that_began_anew_is_told_by_what_it_wrote_over_what_it_had_read() -> None:
    def said(mark: ReadState, saved: SavedFile | None, *, restored: bool) -> str:
        events = [event("optimizer-restored", "SGD", "train.py:2")] if restored else []
        marks = (mark, *([saved] if saved is not None else []))
        told = agent(*events, steps=40)
        job = a_job(a_process(100, agent=told, prints=ParameterPrints(marks=marks)), code=0)
        found = resumed_from_the_start.match(job)
        return found.finding.title if found is not None else ""

    back, on = replace(SAVED, counter=1), replace(SAVED, counter=8)
    assert said(READ, back, restored=True) == (
        "last.pt was read at train.py:1 with 7 in it and is overwritten with 1: the run that was resumed began anew"
    )
    assert said(READ, on, restored=False) == (
        "last.pt was read at train.py:1 with the state of an optimizer in it, and no optimizer was given it: the run "
        "that was resumed goes on with a fresh one"
    )
    assert said(READ, on, restored=True) == ""
    assert said(READ, None, restored=False) == ""
    assert said(READ, replace(back, file="/job/other.pt"), restored=False) == ""
    assert said(replace(READ, optimizer=False), on, restored=False) == ""
    assert said(READ, replace(back, step=0), restored=False) == ""


CUT = replace(
    MODEL, names=("image.weight", "text.weight", "scale"), shapes=("64x32", "64x32", "scalar"), wrapper=(0, 0, 0),
    sharded=(False,) * 3, in_model=(True,) * 3, learns=(True,) * 3, loose=(), loose_count=0,
)  # fmt: skip


def test_gradients_that_reach_only_a_scale_are_told_with_the_line_that_gathers() -> None:
    def said(at_last: TensorPrint = NO_GRADIENT, **model: Any) -> tuple[str, str]:
        calls = tuple(
            CollectiveCall(
                sequence=number, number=number, op="all_gather", group="default", shape="8x32", dtype="float32",
                root=None, path=frames("loss.py:7"), entered_s=1.0, left_s=1.1,
            )
            for number in range(4)
        )  # fmt: skip
        found = [
            replace(
                look(step, model=replace(CUT, **model)), values=(VALUE,) * 3, loose=(), gradients=(last, last, VALUE)
            )
            for step, last in ((1, NO_GRADIENT), (2, NO_GRADIENT), (20, at_last))
        ]
        process = a_process(100, agent=agent(steps=40, collectives=calls), prints=ParameterPrints(looks=tuple(found)))
        told = gradients_reach_little.match(a_job(process, code=0))
        return (told.finding.title, told.locations[0]) if told is not None else ("", "")

    assert said() == (
        "image.weight and 1 more parameters are to learn and never have a gradient, only scale has: all_gather "
        "(loss.py:7) gives tensors without a graph",
        "loss.py:7",
    )
    nothing = ("", "")
    assert said(loaded=True) == nothing
    assert said(learns=(False, False, True)) == nothing
    assert said(shapes=("2x2", "2x2", "32")) == nothing
    assert said(in_model=(False, False, True)) == nothing
    assert said(VALUE) == nothing
