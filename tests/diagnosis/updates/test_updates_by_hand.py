"""What is said of marks and looks about lost passes, reductions, updates and rates that were put together by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from hand_made import a_job, a_process, agent, frames

from diagnostics.core.findings import Role
from diagnostics.diagnosis.silent import weights_differ
from diagnostics.diagnosis.slow import hooks_pile_up
from diagnostics.diagnosis.training import part_in_eval_mode
from diagnostics.diagnosis.updates import (
    frozen_parts_move,
    gradients_still_reduced,
    passes_thrown_away,
    rates_differ,
    rates_lost,
    tokens_weigh_apart,
    updates_rounded_away,
)
from diagnostics.dynamic.job.job import Job
from diagnostics.record.agent_data import Steps
from diagnostics.record.marks.object_marks import RatesLost, UnevenPasses
from diagnostics.record.parameter_prints import Look, OptimizedModel, ParameterPrints, TensorPrint
from diagnostics.record.training_marks import (
    HooksGrow,
    LostPasses,
    Mark,
    OpenReductions,
    PartInEval,
    RateByNumber,
    RoundedUpdates,
)

TRAIN = """\
net = Net.from_pretrained(folder)
optimizer = AdamW(net.parameters(), lr=1e-5)
for x in loader:
    optimizer.zero_grad()
    net(dropout(x)).mean().backward()
    works = [all_reduce(p.grad, async_op=True) for p in net.parameters()]
    works[-1].wait()
    optimizer.step()
scheduler.step(loss)
"""
MADE, PASSED, STARTED, WAITED, STEPPED = (frames(f"train.py:{line}") for line in (2, 5, 6, 7, 8))
LOST = LostPasses(optimizer=0, step=21, run=20, passes=4, stepped=STEPPED, backward=PASSED)
OPEN = OpenReductions(
    optimizer=0, step=20, run=20, open=3, gradients=4, waited=1, operation="all_reduce", started=STARTED,
    waiting=WAITED, stepped=STEPPED,
)  # fmt: skip
ROUNDED = RoundedUpdates(
    optimizer=0, step=60, steps=40, moved=20, graded=128, kind="torch.bfloat16", rate=1e-5, optimizer_class="AdamW",
    made=MADE, stepped=STEPPED,
)  # fmt: skip
LATER = replace(ROUNDED, step=180, steps=80, moved=21)
PART = PartInEval(
    optimizer=0, step=40, root="Net", part="body", part_class="Body", module="1 (Dropout)", learning=4, library=False,
    evaluating=frames("train.py:1"), stepped=STEPPED,
)  # fmt: skip
UNSEEN = replace(PART, part="", part_class="Net", library=None, evaluating=())
HOOKS = HooksGrow(step=40, count=40, before=20, module="1 (Linear)", function="keep", path=PASSED)

WRITTEN = RatesLost(
    optimizer=0, step=60, since=10, changes=48, rate=0.1, written=0.02, scheduler="", made=frames("train.py:1"),
    stepped=STEPPED,
)  # fmt: skip
ELSEWHERE = replace(WRITTEN, scheduler="StepLR", made=frames("train.py:9"))
UNEVEN = UnevenPasses(optimizer=0, step=16, ratio=11.5, passes=4, least=4, most=46, backward=PASSED)


def job_of(*marks: Mark, steps: int = 41, folder: Path | str = "/job") -> Job:
    """Returns the job of one rank that left these marks."""
    told = replace(agent(steps=steps), steps=Steps(count=steps, backwards=steps))
    return a_job(a_process(100, agent=told, prints=ParameterPrints(marks=marks)), code=0, cwd=folder)


FAULTS: dict[str, tuple[ModuleType, tuple[Mark, ...], str, str]] = {
    "cleared between": (
        passes_thrown_away,
        (LOST,),
        "Each step uses 1 of its 4 backward passes at train.py:5: the gradients are cleared between them, in 20 steps "
        "and more",
        "train.py:4",
    ),
    "not waited for": (
        gradients_still_reduced,
        (OPEN,),
        "Steps use 3 of 4 gradients while all_reduce may still change them: of the asynchronous operations started at "
        "train.py:6 train.py:7 waits for 1",
        "train.py:7",
    ),
    "rounded away": (
        updates_rounded_away,
        (ROUNDED, LATER),
        "AdamW steps are lost in the rounding of bfloat16: of 128 numbers with a gradient 21 moved in 80 steps with a "
        "rate of 1e-05",
        "train.py:2",
    ),
    "a part in eval mode": (
        part_in_eval_mode,
        (PART,),
        "Net is trained with body (Body) in eval mode from the start: eval() was called at train.py:1, and train() was "
        "not called on it",
        "train.py:1",
    ),
    "handed over in eval mode": (
        part_in_eval_mode,
        (UNSEEN,),
        "Net is trained with the whole model in eval mode from the start: train.py:1 was handed it in eval mode, and "
        "train() was not called on it",
        "train.py:1",
    ),
    "rates in groups of before": (
        rates_lost,
        (WRITTEN,),
        "What the schedule writes reaches no step: it holds the groups that load_state_dict at train.py:1 replaced, "
        "wrote 48 rates into them in 50 steps, and the steps stay at 0.1",
        "train.py:1",
    ),
    "rates of an optimizer of before": (
        rates_lost,
        (ELSEWHERE,),
        "StepLR of train.py:9 was stepped 48 times in 50 steps for an optimizer that makes none: the one that trains "
        "its parameters stays at 0.1",
        "train.py:9",
    ),
    "micro-batches of unequal numbers": (
        tokens_weigh_apart,
        (UNEVEN, replace(UNEVEN, step=108)),
        "Each of the 4 micro-batches of a step counts the same, with 4 targets or 46: a target in the smallest weighs "
        "11.5 times as much as one in the largest",
        "train.py:5",
    ),
    "hooks": (
        hooks_pile_up,
        (HOOKS,),
        "1 (Linear) holds 40 hooks of keep() by step 40, registered anew at train.py:5: each call of it runs all of "
        "them",
        "train.py:5",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_a_rank_shows_is_told_with_the_line_to_change(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    signature, marks, title, line = FAULTS[name]
    found = signature.match(job_of(*marks, folder=tmp_path))
    assert found is not None
    assert (found.finding.title, found.locations[0], found.culprit_ranks) == (title, line, (0,))
    assert (found.failure_class, found.finding.role) == (signature.CLASS, Role.ROOT)


QUIET: dict[str, tuple[Mark, ...]] = {
    "one window of small steps: a warm-up": (ROUNDED,),
    "weights that moved later": (ROUNDED, replace(LATER, moved=100)),
    "weights that had moved before": (replace(ROUNDED, moved=100), LATER, replace(LATER, step=560)),
    "a few steps after a state was loaded": (replace(WRITTEN, step=19),),
    "micro-batches of about one size": (replace(UNEVEN, ratio=2.0),),
    "micro-batches that were even later": (UNEVEN, replace(UNEVEN, step=108, ratio=1.0)),
    "few numbers with a gradient": (replace(ROUNDED, graded=20, moved=0), replace(LATER, graded=20, moved=0)),
    "train mode again later": (replace(PART, step=10),),
}


@pytest.mark.parametrize("reason", QUIET)
def test_what_looks_like_it_is_no_fault(reason: str) -> None:
    assert [one[0].CODE for one in FAULTS.values() if one[0].match(job_of(*QUIET[reason])) is not None] == []


def test_a_program_that_calls_eval_itself_is_not_blamed_for_what_a_library_may_have_done(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN + "net.eval()\n")
    assert part_in_eval_mode.match(job_of(UNSEEN, folder=tmp_path)) is None


MODEL = OptimizedModel(
    optimizer=0, class_name="AdamW", stepped=STEPPED, made=MADE, names=("a.weight",), shapes=("4x3",), wrapper=(0,),
    sharded=(False,), in_model=(True,),
)  # fmt: skip


def look(step: int, *, rate: float | None = 0.1, value: int = 7, gradient: float = 0.5) -> Look:
    """Returns the look of one rank before one step."""
    return Look(
        model=MODEL, step=step, values=(TensorPrint(checksum=step * 10 + value, size=value / 10, first=0.5),),
        gradients=(TensorPrint(checksum=int(gradient * 100), size=gradient, first=gradient),), rates=(rate,), graded=1,
        closure=False, loss=1.0, backwards=step, world_size=2, number=step, wrappers=(),
    )  # fmt: skip


def two_ranks(first: tuple[Look, ...], second: tuple[Look, ...], folder: Path | str, *marks: Mark) -> Job:
    """Returns the job of two ranks; the marks are the second one's."""
    prints = ParameterPrints(looks=first), ParameterPrints(looks=second, marks=marks)
    processes = [
        a_process(100 + rank, rank=rank, agent=agent(pid=100 + rank, steps=200), prints=one)
        for rank, one in enumerate(prints)
    ]
    return a_job(*processes, code=0, cwd=folder)


FROZEN = replace(MODEL, learns=(False,))


def looks_of(
    *steps: int, model: OptimizedModel = FROZEN, moves: bool = True, gradient: float = 0.0
) -> tuple[Look, ...]:
    """Returns looks at one parameter that moves, or does not."""
    made = [replace(look(step, gradient=gradient), model=model) for step in steps]
    return tuple(made if moves else (replace(one, values=made[0].values) for one in made))


def test_a_frozen_parameter_that_moves_under_a_gradient_that_no_pass_made_is_told() -> None:
    found = frozen_parts_move.match(two_ranks(looks_of(100, 125, 160, 200), looks_of(100, 125, 160, 200), "/job"))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks) == ("gradients-not-cleared", (0, 1))
    assert found.finding.title == (
        "AdamW goes on moving a.weight that was frozen: the gradients left there are zero, which momentum, decay or "
        "averages still move"
    )


RESTS = {
    "it stays": looks_of(100, 125, 160, 200, moves=False),
    "it learns": looks_of(100, 125, 160, 200, model=replace(MODEL, learns=(True,))),
    "three looks": looks_of(125, 160, 200),
    "even steps, as of parts that take turns": looks_of(100, 160, 200, 250),
    "gradients by hand": tuple(
        replace(one, gradients=(TensorPrint(checksum=one.step, size=1.0, first=1.0),))
        for one in looks_of(100, 125, 160, 200)
    ),
}


@pytest.mark.parametrize("reason", RESTS)
def test_frozen_parameters_that_rest_or_move_on_purpose_are_left_alone(reason: str) -> None:
    assert frozen_parts_move.match(two_ranks(RESTS[reason], RESTS[reason], "/job")) is None


LOWERED = RateByNumber(
    optimizer=0, step=90, rate=0.03, before=0.1, number=1.5, scheduler="ReduceLROnPlateau", made=MADE,
    path=frames("train.py:9"),
)  # fmt: skip
EQUAL = tuple(look(step) for step in (1, 2, 100))


def test_rates_that_part_under_equal_gradients_are_told_with_the_number_and_not_as_weights(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    first = (*EQUAL[:2], look(100, rate=0.1), look(125, rate=0.1))
    second = (*EQUAL[:2], look(100, rate=0.03), look(125, rate=0.03, value=9))
    job = two_ranks(first, second, tmp_path, LOWERED)
    found = rates_differ.match(job)
    assert found is not None
    assert (found.finding.title, found.locations[0]) == (
        "The learning rates of ranks 0, 1 differ by step 100 (0.1 on rank 0, 0.03 on rank 1), while they share their "
        "gradients: ReduceLROnPlateau at train.py:9 is given another number on each",
        "train.py:9",
    )
    assert weights_differ.match(job) is None


SAME = look(125)
PARTED: dict[str, tuple[Look, ...]] = {
    "equal rates": (*EQUAL, SAME),
    "rates from the start: a sweep": tuple(look(step, rate=0.03) for step in (1, 2, 100, 125)),
    "rates that met again": (*EQUAL[:2], look(100, rate=0.03), SAME),
    "gradients that were never shared": tuple(
        look(step, rate=0.1 if step < 100 else 0.03, gradient=0.9) for step in (1, 2, 100, 125)
    ),
    "a rate that could not be read": (*EQUAL[:2], look(100, rate=None), look(125, rate=None)),
}


@pytest.mark.parametrize("reason", PARTED)
def test_rates_that_differ_by_design_are_left_alone(reason: str) -> None:
    assert rates_differ.match(two_ranks((*EQUAL, SAME), PARTED[reason], "/job")) is None
