from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FailingChild, FakeChild, LateChild, child_result

from diagnostics.adapter.description import JobDescription
from diagnostics.core.errors import DoctorError, UsageError
from diagnostics.core.findings import Outcome, Status
from diagnostics.inspection.engine import InspectionRequest, Target, inspect
from diagnostics.machine.facts import ChildResult


@pytest.fixture
def wanted(tmp_path: Path) -> InspectionRequest:
    target = Target(name="m.Net", factory="m:Net")
    return InspectionRequest(targets=(target,), python="python3", folder=tmp_path, rerun="ups-doctor inspect m:Net")


@pytest.fixture
def of_a_job(wanted: InspectionRequest) -> InspectionRequest:
    return replace(wanted, targets=(), job=JobDescription(module="trainer.job", config=Path("/c.yaml")))


def answering(answer: object, folder: Path) -> Callable[[Sequence[str]], ChildResult]:
    def reply(argv: Sequence[str]) -> ChildResult:
        (folder / "seen.json").write_text(json.dumps(answer))
        return child_result(returncode=0)

    return reply


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"torch": 3, "models": []}, "'torch' is 3"),
        ({"torch": "2", "models": [7]}, "one InspectedModel was expected, got int"),
        (
            {"torch": "2", "models": [{"refusal": None, "seen": None}]},
            "InspectedModel.__init__() missing 1 required keyword-only argument: 'name'",
        ),
    ],
)
def test_an_answer_of_another_form_is_named_and_not_judged(
    wanted: InspectionRequest, answer: object, reason: str
) -> None:
    with pytest.raises(DoctorError) as caught:
        inspect(wanted, FakeChild(answering(answer, wanted.folder)))
    assert caught.value.message == f"the child's answer cannot be read: {reason}"


def test_no_answer_is_undecided_and_never_a_pass(wanted: InspectionRequest) -> None:
    verdict = inspect(wanted, FakeChild(child_result(returncode=0))).verdict
    assert verdict.exit_code() == 3
    assert [(one.code, one.status) for one in verdict.outcomes] == [("A900", Status.CRASHED)]


def test_a_child_that_is_late_is_undecided(wanted: InspectionRequest) -> None:
    (outcome,) = inspect(wanted, LateChild()).verdict.outcomes
    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.reason) == (Status.TIMED_OUT, "did not finish within 120 s, stuck")


def test_a_python_that_cannot_be_started_is_named(wanted: InspectionRequest) -> None:
    with pytest.raises(DoctorError, match=r"^the model cannot be run: cannot start .*: Permission denied$"):
        inspect(wanted, FailingChild())


def test_a_trainer_that_hands_over_no_model_is_named_with_another_way(of_a_job: InspectionRequest) -> None:
    said = (
        "usage: job [-h] {describe,data}\njob: error: argument verb: invalid choice: 'inspect' (choose from describe)"
    )
    with pytest.raises(UsageError) as caught:
        inspect(of_a_job, FakeChild(child_result(returncode=2, stderr=said)))
    assert caught.value.message == "the trainer of /c.yaml (trainer.job) hands over no model to inspect"
    assert caught.value.hint == "name a factory: ups-doctor inspect module:factory --inputs module:make_batch"


def test_a_configuration_that_the_trainer_refuses_is_its_own_sentence(of_a_job: InspectionRequest) -> None:
    with pytest.raises(UsageError) as caught:
        inspect(of_a_job, FakeChild(child_result(returncode=2, stderr="unknown key 'dimm'\n  did you mean 'dim'?\n")))
    assert (caught.value.message, caught.value.hint) == ("unknown key 'dimm'", "did you mean 'dim'?")
