from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from diagnostics.bisection.case import Source
from diagnostics.bisection.search.climbing import Climbed, Rung
from diagnostics.bisection.targets.ladder import climbed_lines, rungs_of
from diagnostics.machine.this import this_machine
from tests.fakes import FailingChild, FakeChild, LateChild, child_result

QUICKSTART = Path(__file__).parents[3] / "configs" / "quickstart.yaml"
ADAPTER = ("trainer.job", "inspect", "/job/config.yaml", "--steps", "2", "--set", "a=1")
TRAINED = Source(adapter=ADAPTER, stage="operator")
LOW, HIGH = Rung(name="depth 1", overrides=("depth=1",)), Rung(name="as configured", overrides=())


def answering(models: object, returncode: int = 0) -> FakeChild:
    return FakeChild(reply=child_result(stdout=json.dumps(models), returncode=returncode))


def test_the_trainer_is_asked_with_the_overrides_of_the_job() -> None:
    child = answering({"models": {"operator": [{"name": "depth 1", "overrides": ["depth=1"]}]}})
    assert rungs_of(TRAINED, python="/job/python", child=child) == (LOW,)
    assert child.ran == [("/job/python", "-m", "trainer.job", "ladder", "/job/config.yaml", "--set", "a=1")]


def test_a_factory_has_no_ladder_and_nobody_is_asked() -> None:
    assert rungs_of(Source(factory="model:Net"), python="python", child=FailingChild()) == ()


@pytest.mark.parametrize(
    "child",
    [
        FailingChild(),
        LateChild(),
        answering({}, returncode=2),
        answering({}),
        answering([]),
        answering({"models": {"operator": [{"name": "depth 1"}]}}),
        answering({"models": {"operator": [{"name": 1, "overrides": []}]}}),
        answering({"models": {"operator": 7}}),
    ],
)
def test_a_trainer_without_a_ladder_costs_nothing_but_the_ladder(child: FakeChild) -> None:
    assert rungs_of(TRAINED, python="python", child=child) == ()


def test_our_own_trainer_answers() -> None:
    with this_machine(python=sys.executable) as machine:
        source = Source(adapter=("ups.doctor_job", "inspect", str(QUICKSTART), "--steps", "2"), stage="operator")
        rungs = rungs_of(source, python=sys.executable, child=machine.child)
    assert rungs[0].name == "depths [1], without attention, without conditioning, hidden_dim 32"
    assert rungs[-1] == HIGH


def test_the_first_rung_that_fails_and_the_last_that_passes_are_told() -> None:
    climbed = Climbed(first_failing=HIGH, last_passing=LOW, results=(("depth 1", "passes"), ("as configured", "fails")))
    assert climbed_lines(climbed) == (
        "of the model's sizes, as configured is the first that fails, depth 1 the last that passes"
        " (depth 1: passes; as configured: fails)",
    )


def test_where_the_smallest_fails_already_none_below_it_is_said_to_pass() -> None:
    climbed = Climbed(first_failing=LOW, results=(("depth 1", "fails"), ("as configured", "not tried")))
    assert climbed_lines(climbed) == (
        "of the model's sizes, depth 1 is the first that fails; none below it passes (depth 1: fails)",
    )


def test_a_ladder_on_which_nothing_failed_says_nothing() -> None:
    assert climbed_lines(Climbed(first_failing=None)) == ()
