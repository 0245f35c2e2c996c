from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bisected import FAILURE

from diagnostics.bisection.case import Configuration, RunSettings, Source
from diagnostics.bisection.found import Attempt
from diagnostics.bisection.search.failing_case import failing, look_for_failure
from diagnostics.bisection.trial import FailureKind, Trial
from diagnostics.bisection.wanted import BisectionRequest

ONE = (Source(factory="model:make"),)


class Rules:
    """An oracle: a case fails where the rule says so."""

    def __init__(self, fails: Callable[[Configuration], bool], refuses: str = "") -> None:
        self.fails, self.refuses = fails, refuses

    def ask(self, case: Configuration, why: str) -> Trial:
        if case.settings.wrapper == self.refuses:
            return Trial(case=case, refusal=f"{self.refuses} is not installed")
        failure = FAILURE if self.fails(case) else None
        return Trial(case=case, failure=failure, failed=int(failure is not None))

    def ask_all(self, cases: Sequence[tuple[Configuration, str]]) -> list[Trial]:
        return [self.ask(case, why) for case, why in cases]


def wanted(sources: tuple[Source, ...] = ONE, **named: Any) -> BisectionRequest:
    return BisectionRequest(name="net", sources=sources, python="python", folder=Path("reports"), named=named)


def ways(oracle: Rules, asked: BisectionRequest) -> list[str]:
    return [one.way for one in look_for_failure(asked, oracle)]


def test_the_first_case_is_two_ranks_in_ddp() -> None:
    (only,) = look_for_failure(wanted(), Rules(lambda case: True))
    assert only.trial.case.settings == RunSettings(world=2, wrapper="ddp", steps=2)
    assert failing([only]) is only


def test_before_it_is_said_that_nothing_fails_other_ways_are_tried() -> None:
    attempts = list(look_for_failure(wanted(), Rules(lambda case: False, refuses="fabric")))
    assert [one.way for one in attempts] == [
        "ddp, 2 ranks, gloo on cpu",
        "ddp, 2 ranks, gloo on cpu, amp bfloat16, accumulate 2, checkpointing, 2 workers, 2 threads",
        "fsdp2, 2 ranks, gloo on cpu",
        "fsdp1, 2 ranks, gloo on cpu",
        "no wrapper, 2 ranks, gloo on cpu",
        "fabric, 2 ranks, gloo on cpu",
        "ddp, 2 ranks, gloo on cpu, compile",
    ]
    assert failing(attempts) is None


def test_a_failure_under_another_wrapper_is_found() -> None:
    oracle = Rules(lambda case: case.settings.wrapper == "fsdp2")
    assert ways(oracle, wanted())[-1] == "fsdp2, 2 ranks, gloo on cpu"


def test_what_the_user_named_stays() -> None:
    oracle = Rules(lambda case: False)
    assert ways(oracle, wanted(wrapper="none", world=1)) == [
        "no wrapper, 1 rank, gloo on cpu",
        "no wrapper, 1 rank, gloo on cpu, amp bfloat16, accumulate 2, checkpointing, 2 workers, 2 threads",
        "no wrapper, 1 rank, gloo on cpu, compile",
    ]


def test_each_model_of_a_trainer_is_tried() -> None:
    stages = tuple(Source(adapter=("ups.doctor_job",), stage=name) for name in ("autoencoder", "operator"))
    oracle = Rules(lambda case: case.source.stage == "operator")
    assert ways(oracle, wanted(stages)) == [
        "autoencoder, ddp, 2 ranks, gloo on cpu",
        "operator, ddp, 2 ranks, gloo on cpu",
    ]


def test_a_case_that_cannot_be_run_as_asked_ends_the_look() -> None:
    attempts = list(look_for_failure(wanted(wrapper="fabric"), Rules(lambda case: False, refuses="fabric")))
    assert [one.trial.refusal for one in attempts] == ["fabric is not installed"]


def test_a_compiler_that_takes_long_is_no_hang() -> None:
    hang = replace(FAILURE, kind=FailureKind.HANG, detail="")
    slow = Trial(case=Configuration(source=ONE[0], settings=RunSettings(compile=True)), failure=hang, failed=1)
    assert [Attempt(way="", trial=slow, asked=asked).fails for asked in (False, True)] == [False, True]
    quick = replace(slow, failure=FAILURE)
    assert Attempt(way="", trial=quick).fails
