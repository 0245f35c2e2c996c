"""From the ends of ranks to one failure: who failed, and what counts as the same way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnostics.bisection.case import Configuration, Source
from diagnostics.bisection.trial import Failure, FailureKind
from diagnostics.bisection.tries.failures import failure_of, fault_of_ours, trial_of
from diagnostics.bisection.tries.rank_runs import RankRun
from diagnostics.bisection.tries.trial_answers import RankError, TrialAnswer
from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.rank_ends import RankOutcome
from diagnostics.record.stacks import FaulthandlerLog, ThreadStack

LINE = Frame(file="/job/model.py", line=31, function="forward")
OTHER = Frame(file="/job/model.py", line=77, function="forward")
TORCH = "/venv/lib/python3.11/site-packages/torch/"
ALL_REDUCE = Frame(file=f"{TORCH}distributed/distributed_c10d.py", line=9, function="all_reduce")
BACKWARD = Frame(file=f"{TORCH}_tensor.py", line=9, function="backward")
ENGINE = Frame(file=f"{TORCH}autograd/graph.py", line=9, function="_engine_run_backward")
LOST = "[pair.cc:553] Connection closed by peer [127.0.0.1]:41313"
HEALTHY = RankRun(
    end=RankOutcome(
        rank=0, signal=None, returncode=0, timed_out=False, ended=False, seconds=1.0, stderr="", agent=None, fault=None
    ),
    answer=TrialAnswer(finished=True, gradients="aa", parameters="bb", step=2),
)

IMPORTING = RankError(type="ValueError", message="boom", frames=(), phase="import")


def at(rank: int, seconds: float = 1.0, **end: object) -> RankRun:
    """A rank that did not come to its end."""
    answer = TrialAnswer(phase="forward", step=1)
    return RankRun(end=replace(HEALTHY.end, rank=rank, seconds=seconds, **end), answer=answer)  # type: ignore[arg-type]


def raised(rank: int, name: str, message: str, *frames: Frame, seconds: float = 1.0) -> RankRun:
    error = RankError(type=name, message=message, frames=frames, phase="forward", step=1, module="a", module_class="A")
    run = at(rank, seconds, returncode=1)
    return replace(run, answer=TrialAnswer(phase="forward", step=1, error=error))


def crashed(rank: int, frame: Frame, seconds: float = 1.0, number: int = 11) -> RankRun:
    return at(rank, seconds, signal=number, returncode=-number, fault=stacks("Segmentation fault", frame))


def stuck(rank: int, *frames: Frame) -> RankRun:
    fault = stacks("Timeout (0:00:09)", *frames)
    return at(rank, 10.0, timed_out=True, ended=True, signal=9, returncode=-9, fault=fault)


def stacks(error: str, *frames: Frame) -> FaulthandlerLog:
    return FaulthandlerLog(error=error, threads=(ThreadStack(ident="1", crashed=True, frames=frames),))


def of(*runs: RankRun) -> Failure | None:
    return failure_of(runs, cwd="/job")


def found(*runs: RankRun) -> tuple[FailureKind, str, str, tuple[str, ...], tuple[int, ...]]:
    failure = of(*runs)
    assert failure is not None
    return failure.kind, failure.detail, failure.message, failure.places, failure.ranks


def second(run: RankRun) -> RankRun:
    return replace(run, end=replace(run.end, rank=1))


def test_ranks_that_come_to_their_end_with_equal_numbers_have_no_failure() -> None:
    assert of(HEALTHY, second(HEALTHY)) is None


def test_an_abort_while_a_finished_rank_takes_its_group_down_is_no_failure() -> None:
    leaving = at(1, signal=6, returncode=-6)
    assert of(HEALTHY, replace(leaving, answer=TrialAnswer(phase="end", step=2))) is None


def test_the_same_crash_is_the_same_on_one_rank_and_on_two() -> None:
    alone, both = of(crashed(0, LINE)), of(crashed(0, LINE), crashed(1, LINE))
    assert alone is not None
    assert found(crashed(0, LINE)) == (FailureKind.SIGNAL, "SIGSEGV", "", ("model.py:31 forward",), (0,))
    assert alone.same_as(both)


def test_a_rank_that_only_lost_its_peer_is_not_named() -> None:
    expected = (FailureKind.SIGNAL, "SIGSEGV", "", ("model.py:31 forward",), (1,))
    assert found(raised(0, "RuntimeError", LOST, OTHER), crashed(1, LINE, 2.0)) == expected
    assert found(at(0, ended=True, signal=9, returncode=-9), crashed(1, LINE)) == expected


def test_of_two_ways_to_fail_the_one_that_came_first_is_told() -> None:
    first, then = raised(1, "ValueError", "bad 3", LINE, seconds=1.0), crashed(0, OTHER, 1.5, 6)
    assert found(then, first) == (FailureKind.EXCEPTION, "ValueError", "bad #", ("model.py:31 forward",), (1,))


def test_the_rank_that_others_wait_for_is_named_and_not_those_that_wait() -> None:
    waiting = stuck(0, ENGINE, BACKWARD)
    in_code, in_a_call = stuck(1, LINE), stuck(1, ALL_REDUCE, LINE)
    assert found(waiting, in_code) == (FailureKind.HANG, "", "", ("model.py forward",), (1,))
    assert found(waiting, in_a_call) == (FailureKind.HANG, "", "", ("model.py:31 forward",), (1,))
    assert found(waiting, second(waiting)) == (FailureKind.HANG, "", "", ("torch/_tensor.py backward",), (0, 1))


def test_a_rank_that_waits_at_its_end_is_no_culprit_of_a_hang() -> None:
    leaving = replace(stuck(0, LINE), answer=TrialAnswer(phase="end", step=2))
    assert found(leaving, stuck(1, ALL_REDUCE, OTHER))[3:] == (("model.py:77 forward",), (1,))


def test_hangs_with_a_place_in_common_are_the_same() -> None:
    one, other = of(stuck(0, ENGINE, BACKWARD), stuck(1, ENGINE, BACKWARD)), of(stuck(0, LINE))
    assert one is not None
    assert other is not None
    wider = replace(one, places=(*one.places, *other.places))
    assert [wider.same_as(one), wider.same_as(other), one.same_as(other)] == [True, True, False]


@pytest.mark.parametrize(
    "run",
    [
        raised(0, "RuntimeError", "DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes", LINE),
        raised(0, "MemoryError", "", LINE),
        raised(0, "OutOfMemoryError", "CUDA out of memory. Tried to allocate 2 GiB", LINE),
    ],
)
def test_the_same_limit_of_memory_is_one_failure_however_it_shows(run: RankRun) -> None:
    assert found(run) == (FailureKind.MEMORY, "", "", ("model.py:31 forward",), (0,))
    native = replace(crashed(0, LINE, number=6), end=replace(crashed(0, LINE, number=6).end, stderr="std::bad_alloc"))
    assert found(native)[:3] == (FailureKind.MEMORY, "", "")


def test_what_cpp_says_before_it_aborts_is_the_message() -> None:
    stderr = "terminate called after throwing an instance of 'c10::Error'\n  what():  bad size 7\nmore"
    run = crashed(0, LINE, number=6)
    assert found(replace(run, end=replace(run.end, stderr=stderr)))[:3] == (FailureKind.SIGNAL, "SIGABRT", "bad size #")


def test_a_process_that_leaves_before_its_end_has_failed_whatever_its_exit_code() -> None:
    assert found(at(0, returncode=0)) == (FailureKind.EXIT, "exit code 0", "", (), (0,))
    assert found(at(0, returncode=3)) == (FailureKind.EXIT, "exit code 3", "", (), (0,))
    left = raised(0, "SystemExit", "3", LINE)
    left = replace(left, end=replace(left.end, returncode=3))
    assert found(left) == (FailureKind.EXIT, "exit code 3", "", ("model.py:31 forward",), (0,))


@pytest.mark.parametrize(
    ("said", "detail", "phase"),
    [
        ("loss", "loss", "loss"),
        ("gradient of a.b.weight", "gradient", "backward"),
        ("parameter a.b.weight", "parameter", "optimizer"),
    ],
)
def test_what_is_no_number_is_told_without_a_name_that_an_edit_moves(said: str, detail: str, phase: str) -> None:
    failure = of(replace(HEALTHY, answer=TrialAnswer(finished=True, nonfinite=said, nonfinite_step=2)))
    assert failure is not None
    assert (failure.kind, failure.detail, failure.phase, failure.step) == (FailureKind.NONFINITE, detail, phase, 2)
    assert failure.text == f"{said} is not finite"


def test_gradients_that_differ_between_ranks_are_a_failure_and_those_that_are_not_told_are_none() -> None:
    other = replace(second(HEALTHY), answer=TrialAnswer(finished=True, gradients="ab", parameters="bb"))
    untold = replace(second(HEALTHY), answer=TrialAnswer(finished=True))
    assert found(HEALTHY, other) == (FailureKind.DISAGREE, "gradients", "", (), (0, 1))
    assert of(HEALTHY, untold) is None


def test_secrets_in_a_message_are_hidden() -> None:
    failure = of(raised(0, "ConnectionError", "https://user:hunter2@host/x refused", LINE))
    assert failure is not None
    assert "hunter2" not in failure.message + failure.text


def test_an_exception_of_the_trial_itself_is_no_failure_of_the_model() -> None:
    ours = replace(at(0, returncode=1, stderr="ImportError: no stepping"), answer=None)
    assert fault_of_ours([ours]) == "ImportError: no stepping"
    assert fault_of_ours([raised(0, "KeyError", "'x'")]).startswith("KeyError: 'x'")
    assert [fault_of_ours([run]) for run in (HEALTHY, crashed(0, LINE), raised(0, "E", "m", LINE))] == ["", "", ""]


@pytest.mark.parametrize(
    ("other", "refused"),
    [
        (TrialAnswer(phase="import", refusal="net: importing net raised", error=IMPORTING), True),
        (TrialAnswer(phase="import"), True),  # ended while it still imported
        (TrialAnswer(phase="construct"), False),
        (TrialAnswer(finished=True), False),
    ],
)
def test_an_import_that_raises_is_wrong_use_unless_another_rank_came_through_it(
    other: TrialAnswer, refused: bool
) -> None:
    one = TrialAnswer(phase="import", refusal="net: importing net raised", error=IMPORTING)
    runs = [replace(at(0, returncode=1), answer=one), replace(at(1, 2.0, signal=9), answer=other)]
    trial = trial_of(Configuration(source=Source(factory="net:Net")), runs, 1.0)
    assert (trial.refusal, trial.failure is None) == (("net: importing net raised", True) if refused else ("", False))
