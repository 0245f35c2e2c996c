"""Which state of a job the verdict is about, and what takes the place of what; on cases put together by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_match, a_process, agent, event, raised

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.state_selection import ENDED_FROM_OUTSIDE, Foundation, foundation, last_word
from diagnostics.diagnosis.verdict import Diagnosis, arbitrate, exit_of
from diagnostics.dynamic.job.job import ExceptionSource, Job, ProcessRole
from diagnostics.record.supervisor_facts import ProvedHang, SentSignal, Stall

HANG, CRASH, OK = JobOutcome.HANG, JobOutcome.CRASH, JobOutcome.OK
LIKELY, CONFIRMED, POSSIBLE = Confidence.LIKELY, Confidence.CONFIRMED, Confidence.POSSIBLE
STALL = Stall(began_s=5.0, seen_s=20.0)
RUNS = {"exit_code": None, "ended_s": None}


def alive(**fields: object) -> Job:
    """A job of one rank that stands still and runs."""
    one = a_process(agent=agent(steps=8, pid=100), code=None, at_s=None)  # type: ignore[arg-type]
    one = replace(one, end=replace(one.end, exit_code=None))
    return a_job(one, culprits=(), facts={**RUNS, "stalls": (STALL,), **fields})


def over(*, steps: int = 8, code: int | None = None, signal: int | None = None, by: str = "", raises: str = "",
         part: ProcessRole = ProcessRole.RANK, **job: object) -> Job:  # fmt: skip
    """The same job after its end."""
    said = (raised(raises, "train.py:9"),) if raises else ()
    one = a_process(agent=agent(steps=steps, pid=100), code=code, signal=signal, ended_by=by, raised=said, part=part)
    known = {"exit_code": code, "signal": signal, "ended_s": 41.0, "stalls": (STALL,)}
    return a_job(one, facts={**known, **job})


def asked(number: int = 2, why: str = "interrupt") -> dict[str, object]:
    """What job.json says of a job to which the doctor sent a signal."""
    return {"ended_by": why, "sent": (SentSignal(pid=100, signal=number, at_s=40.0, why=why),)}


def answers(before: Match | None, after: Match | None) -> Callable[[Job, bool], Diagnosis]:
    """Signatures that say one thing of a job that runs and another of one that has ended."""
    return lambda state, running: arbitrate(state, [one for one in [before if running else after] if one is not None])


def hang(confidence: Confidence = LIKELY, code: str = "D330") -> Match:
    return a_match(code, "rank-stalled", outcome=HANG, confidence=confidence, ranks=(0,))


def crash(confidence: Confidence = CONFIRMED, kind: str = "python-exception") -> Match:
    return a_match("D201", kind, confidence=confidence, ranks=(0,))


@pytest.mark.parametrize("number", [2, 15, 1, 3])
@pytest.mark.parametrize("code", [0, 1, 130])
def test_after_a_signal_of_ours_nothing_that_came_later_counts(number: int, code: int) -> None:
    ended = over(code=code, raises="KeyboardInterrupt", **asked(number))
    word = last_word(ended, alive(), answers(hang(), crash()))
    assert (word.decision.outcome, word.decision.failure_class, word.stopped) == (HANG, "rank-stalled", True)
    assert exit_of(ended, word.decision, stopped=True).code == 128 + number


def test_a_stall_that_the_doctor_ended_is_told_as_it_was_before() -> None:
    ended = over(signal=15, by="doctor", **asked(15, "stall-timeout"))
    word = last_word(ended, alive(), answers(hang(), crash()))
    assert (word.decision.outcome, word.state.facts.ended_by) == (HANG, "stall-timeout")
    assert exit_of(ended, word.decision, stopped=True).code == 124


@pytest.mark.parametrize("said", [hang(CONFIRMED), crash(CONFIRMED)])
def test_a_healthy_job_that_was_interrupted_neither_hung_nor_crashed(said: Match) -> None:
    ended = over(code=1, raises="KeyboardInterrupt", **asked(), stalls=())
    word = last_word(ended, alive(stalls=()), answers(said, said))
    assert (word.decision.outcome, word.decision.failure_class) == (OK, "none")
    assert word.decision.notes == (
        "SIGINT at 40.0 s ended the job while it went on; until then nothing was found wrong",
    )
    assert exit_of(ended, word.decision, stopped=True).code == 130


def test_what_had_crashed_before_the_interrupt_stays_a_crash() -> None:
    fell = a_job(a_process(code=1), a_process(101, rank=1, code=None), facts={**RUNS, "stalls": ()})
    ended = over(code=1, **asked())
    assert last_word(ended, fell, answers(crash(), None)).decision.outcome is CRASH


@pytest.mark.parametrize(
    "ended",
    [
        over(signal=9, by="unknown"),
        over(signal=15, by="unknown"),
        over(code=1, raises="KeyboardInterrupt"),
        over(code=1, raises="torch.distributed.elastic.multiprocessing.api.SignalException: got signal: 15"),
        over(code=1, raises="KeyboardInterrupt", part=ProcessRole.LAUNCHER),
        over(code=124),
        over(code=143),
        over(code=1, ended_by="unknown", ended_s=None),
        over(signal=15, by="unknown", stalls=(replace(STALL, over_s=39.0),)),
    ],
)
def test_a_job_that_stood_still_and_was_ended_by_somebody_else_hung(ended: Job) -> None:
    word = last_word(ended, alive(), answers(hang(POSSIBLE), crash(CONFIRMED, "killed-externally")))
    assert (word.decision.outcome, word.decision.failure_class) == (HANG, "rank-stalled")
    assert ENDED_FROM_OUTSIDE in word.decision.notes


def test_a_job_that_left_in_its_handler_of_a_signal_was_ended_by_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "def save(number, frame):\n    sys.exit(0)\n\nsignal.signal(signal.SIGTERM, save)\n"
    )
    left = event("sys.exit", "", "train.py:2", value=0)
    left = replace(left, path=(Frame(file="train.py", line=2, function="save"),))

    def ended(function: str) -> Job:
        path = (Frame(file="train.py", line=2, function=function),)
        one = a_process(agent=agent(replace(left, path=path), steps=8, pid=100))
        return a_job(one, code=0, cwd=tmp_path, facts={"ended_s": 41.0, "stalls": (STALL,)})

    assert last_word(ended("save"), alive(), answers(hang(), None)).decision.outcome is HANG
    assert last_word(ended("main"), alive(), answers(hang(), None)).decision.outcome is OK


def test_a_kill_of_which_the_kernel_says_why_is_better_founded_than_a_stall() -> None:
    killed = crash(CONFIRMED, "killed-by-oom-killer")
    word = last_word(over(signal=9, by="unknown"), alive(), answers(hang(), killed))
    assert (word.decision.outcome, word.decision.failure_class) == (CRASH, "killed-by-oom-killer")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (hang(LIKELY), crash(CONFIRMED), CRASH),
        (hang(LIKELY), crash(LIKELY), CRASH),  # all of it was seen, and it says no less
        (hang(CONFIRMED), crash(LIKELY), HANG),
        (hang(POSSIBLE), None, HANG),
        (None, crash(POSSIBLE), CRASH),
    ],
)
def test_a_job_that_ended_by_itself_is_told_as_what_is_better_founded(
    before: Match | None, after: Match | None, told: JobOutcome
) -> None:
    assert last_word(over(code=1), alive(), answers(before, after)).decision.outcome is told


def test_what_changed_is_said() -> None:
    word = last_word(over(code=1), alive(), answers(hang(LIKELY), crash(CONFIRMED)))
    assert word.decision.notes == (
        "while the job stood still the provisional report said hang, rank-stalled on rank 0; "
        "what came after that tells more",
    )


def test_a_job_that_stood_still_and_came_to_a_good_end_hung_nowhere() -> None:
    assert last_word(over(code=0), alive(), answers(hang(CONFIRMED), None)).decision.outcome is OK


@pytest.mark.parametrize(
    "ended",
    [
        over(signal=15, by="unknown", steps=9),
        over(signal=15, by="unknown", stalls=(replace(STALL, over_s=30.0),), ended_s=400.0),
    ],
)
def test_a_stall_that_the_job_got_out_of_is_no_verdict(ended: Job) -> None:
    word = last_word(ended, alive(), answers(hang(CONFIRMED), crash(LIKELY, "killed-externally")))
    assert (word.decision.outcome, word.decision.failure_class) == (CRASH, "killed-externally")


def test_without_a_state_that_was_kept_the_whole_record_has_to_do() -> None:
    assert last_word(over(code=1, **asked()), None, answers(hang(), crash())).decision.outcome is CRASH


def test_a_proof_is_better_than_any_confidence_and_a_guess_better_than_nothing() -> None:
    proved = alive(proved=(ProvedHang(began_s=5.0, proved_s=7.0, ranks=(0, 1)),))
    cases = [(None, alive()), (hang(POSSIBLE), alive()), (hang(LIKELY), alive()), (hang(CONFIRMED), alive()),
             (hang(LIKELY), proved)]  # fmt: skip
    found = [foundation(arbitrate(state, [one] if one is not None else []), state) for one, state in cases]
    assert found == sorted(Foundation)


def test_a_proved_deadlock_stands_whatever_the_teardown_says() -> None:
    proved = alive(proved=(ProvedHang(began_s=5.0, proved_s=7.0, ranks=(0,)),), stalls=())
    ended = over(code=1, raises="RuntimeError: Connection closed by peer", **asked(15, "deadlock"))
    word = last_word(ended, proved, answers(hang(CONFIRMED, "D310"), crash(CONFIRMED)))
    assert (word.decision.outcome, word.decision.first and word.decision.first.finding.code) == (HANG, "D310")
    assert foundation(word.decision, word.state) is Foundation.PROVED


def test_an_exception_that_was_caught_long_before_the_end_asked_nobody() -> None:
    early = replace(raised("KeyboardInterrupt", "train.py:3", how=ExceptionSource.CAUGHT, at_s=2.0))
    late = raised("ValueError: no", "train.py:9", at_s=900.0)
    ended = over(code=1)
    ended = replace(ended, processes=tuple(replace(one, raised=(early, late)) for one in ended.processes))
    assert last_word(ended, alive(), answers(hang(LIKELY), crash())).decision.outcome is CRASH
