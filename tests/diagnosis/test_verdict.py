"""The deciding rule and the table of exit codes, on cases put together by hand."""

from __future__ import annotations

import pytest
from hand_made import a_job, a_match, a_process, agent, event, raised

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Role
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.verdict import Diagnosis, Exit, arbitrate, exit_of
from diagnostics.dynamic.job.job import ProcessRole
from diagnostics.record.supervisor_facts import SAVED_PHASE

CRASH, HANG, OK, WRONG = JobOutcome.CRASH, JobOutcome.HANG, JobOutcome.OK, JobOutcome.SILENT_WRONG


def order(*matches: Match) -> list[str]:
    decision = arbitrate(a_job(a_process(code=1)), matches)
    return [one.finding.code for one in ([decision.first] if decision.first else []) + list(decision.others)]


def test_a_root_beats_a_cascade_however_sure_and_early_that_is() -> None:
    cascade = a_match("D203", role=Role.CASCADE, began_s=0.0)
    root = a_match("D204", confidence=Confidence.POSSIBLE, began_s=9.0)
    assert order(cascade, root) == ["D204", "D203"]


def test_a_specific_match_takes_the_place_of_a_generic_one_about_the_same_process() -> None:
    generic = a_match("D201", generic=True)
    specific = a_match("D110", "disk-full", confidence=Confidence.LIKELY)
    assert order(generic, specific) == ["D110"]


def test_a_generic_match_about_another_process_stays() -> None:
    generic = a_match("D201", generic=True, explains=(101,))
    specific = a_match("D110", "disk-full", confidence=Confidence.LIKELY)
    assert order(generic, specific) == ["D201", "D110"]


def test_then_the_surer_match_counts_then_the_earlier_one_whatever_the_order_of_files() -> None:
    late, early = a_match("D203", began_s=5.0), a_match("D204", began_s=2.0)
    likely = a_match("D202", confidence=Confidence.LIKELY, began_s=0.0)
    assert order(late, likely, early) == order(early, late, likely) == ["D204", "D203", "D202"]


def test_a_crash_is_told_before_what_was_slow_or_wrong() -> None:
    wrong = a_match("D501", "duplicate-data", outcome=WRONG, began_s=0.0)
    crash = a_match("D201", confidence=Confidence.LIKELY, began_s=9.0)
    assert order(wrong, crash) == ["D201", "D501"]


@pytest.mark.parametrize(("ended_s", "first"), [(6.0, "D320"), (20.0, "D221")])
def test_what_was_over_before_the_ranks_began_is_not_why_they_stand(ended_s: float, first: str) -> None:
    warm_up = a_process(90, rank=None, part=ProcessRole.HELPER, signal=9, at_s=ended_s)
    ranks = [a_process(100 + rank, rank=rank, began_s=8.0) for rank in (0, 1)]
    killed = a_match("D221", "killed-externally", confidence=Confidence.LIKELY, explains=(90,), began_s=ended_s)
    stands = a_match(
        "D320", "rank-stalled", outcome=HANG, confidence=Confidence.LIKELY, explains=(100, 101), began_s=30.0
    )
    decision = arbitrate(a_job(warm_up, *ranks, code=None), [killed, stands])
    assert decision.first is not None
    assert decision.first.finding.code == first


def test_how_a_job_trained_is_not_why_it_failed_and_takes_no_crash_away() -> None:
    crash = a_match("D221", "killed-externally", generic=True)
    wrong = a_match("D535", "gradients-not-synchronised", outcome=WRONG)
    assert order(wrong, crash) == ["D221", "D535"]
    alone = arbitrate(a_job(a_process(code=1)), [wrong])
    assert alone == Diagnosis(outcome=CRASH, failure_class="unknown", first=None, others=(wrong,))
    well = arbitrate(a_job(a_process(), code=0), [wrong])
    assert (well.outcome, well.first) == (WRONG, wrong)


def test_a_cascade_alone_leaves_the_verdict_unknown() -> None:
    cascade = a_match("D203", role=Role.CASCADE)
    decision = arbitrate(a_job(a_process(code=1)), [cascade])
    assert decision == Diagnosis(outcome=CRASH, failure_class="unknown", first=None, others=(cascade,))


def test_a_job_that_ended_well_has_no_class() -> None:
    decision = arbitrate(a_job(a_process(), code=0), [])
    assert decision == Diagnosis(outcome=OK, failure_class="none", first=None, others=())


def test_a_stall_that_no_signature_knows_is_a_hang_of_unknown_class() -> None:
    stalled = a_job(a_process(signal=15, ended_by="doctor"), code=0, culprits=(), facts={"ended_by": "stall-timeout"})
    decision = arbitrate(stalled, [])
    assert (decision.outcome, decision.failure_class) == (HANG, "unknown")
    assert exit_of(stalled, decision) == Exit(code=124, reason="the job hung and was ended by the doctor")


def test_an_interrupted_job_in_which_nothing_was_wrong_is_no_failure() -> None:
    stopped = a_job(a_process(signal=2, ended_by="doctor"), code=130, culprits=(), facts={"ended_by": "interrupt"})
    decision = arbitrate(stopped, [])
    assert decision == Diagnosis(outcome=OK, failure_class="none", first=None, others=())
    assert exit_of(stopped, decision).code == 130


def test_an_interrupted_job_that_had_crashed_before_says_so_and_keeps_the_exit_code_of_the_interrupt() -> None:
    stopped = a_job(a_process(code=1), code=130, facts={"ended_by": "interrupt"})
    decision = arbitrate(stopped, [a_match("D201")])
    assert (decision.outcome, decision.failure_class, exit_of(stopped, decision).code) == (
        CRASH, "python-exception", 130,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("ended_by", "said", "fails"), [("interrupt", True, False), ("itself", True, False), ("itself", False, True)]
)
def test_a_job_that_saved_and_says_so_did_not_fail_and_keeps_its_code(ended_by: str, said: bool, fails: bool) -> None:
    marks = (event("phase", SAVED_PHASE),) if said else ()
    saved = a_job(a_process(code=75, agent=agent(*marks)), code=75, facts={"ended_by": ended_by})
    decision = arbitrate(saved, [])
    assert (saved.failed, decision.outcome == OK, exit_of(saved, decision).code) == (fails, not fails, 75)
    assert ("it asks to be started again (exit code 75)" in decision.notes) is said


@pytest.mark.parametrize(
    ("code", "outcome", "expected"),
    [
        (1, CRASH, Exit(code=1, reason="the job ended with exit code 1")),
        (0, CRASH, Exit(code=70, reason="the job ended with exit code 0, but it failed")),
        (0, OK, Exit(code=0, reason="the job ended with exit code 0")),
        (1, OK, Exit(code=1, reason="the job ended with exit code 1")),
        (0, WRONG, Exit(code=0, reason="the job ended with exit code 0")),
    ],
)
def test_the_exit_code_is_the_jobs_own_or_70_where_it_hid_a_crash(
    code: int, outcome: JobOutcome, expected: Exit
) -> None:
    job = a_job(a_process(), code=code)
    assert exit_of(job, arbitrate(job, [a_match("D201", outcome=outcome)])) == expected


def test_a_culprit_that_died_of_a_signal_gives_128_plus_n_whatever_the_launcher_made_of_it() -> None:
    job = a_job(a_process(100, rank=0, code=1), a_process(101, rank=1, signal=11), code=1)
    assert exit_of(job, arbitrate(job, [a_match("D210", "native-crash", ranks=(1,))])) == Exit(
        code=139, reason="rank 1 died of SIGSEGV; the job ended with exit code 1"
    )


def test_a_failure_of_no_rank_gives_the_jobs_own_code_whatever_rank_was_ended_by_it() -> None:
    decision = Diagnosis(outcome=CRASH, failure_class="port-in-use", first=a_match("D104", ranks=()), others=())
    assert exit_of(a_job(a_process(signal=15), code=1), decision).code == 1


@pytest.mark.parametrize(("code", "expected"), [(1, 1), (0, 70)])
def test_an_exception_whose_process_torch_aborts_on_its_way_out_keeps_the_jobs_code(code: int, expected: int) -> None:
    first = a_process(1, rank=1, signal=6, raised=(raised("KeyError: 'x'", "train.py:3"),))
    job = a_job(first, code=code)
    assert exit_of(job, arbitrate(job, [a_match("D201", ranks=(1,))])).code == expected


def test_a_rank_that_its_launcher_ended_gives_no_signal() -> None:
    job = a_job(a_process(100, rank=0, signal=15, ended_by="launcher"), code=1)
    assert exit_of(job, arbitrate(job, [a_match("D301", "collective-missing", ranks=(0,))])).code == 1


def test_strict_makes_a_wrong_result_a_failure_and_leaves_a_good_one_alone() -> None:
    job = a_job(a_process(), code=0)
    wrong = arbitrate(job, [a_match("D501", "duplicate-data", outcome=WRONG)])
    assert (exit_of(job, wrong, strict=True).code, exit_of(job, arbitrate(job, []), strict=True).code) == (70, 0)


def test_a_crash_that_the_job_dealt_with_is_a_note_and_strict_fails_on_it() -> None:
    runner = a_process(1, part=ProcessRole.HELPER, rank=None, argv=("pytest", "tests"), parent_pid=0)
    failed = a_process(2, code=1, parent_pid=1, agent=agent(steps=3))
    job = a_job(runner, failed, code=0)
    crash = a_match("D201", explains=(2,))
    decision = arbitrate(job, [crash])
    said = "Rank 0 (train.py) ended with exit code 1; the tests that pytest ran passed"
    assert (decision.outcome, decision.failure_class, decision.handled) == (JobOutcome.OK, "none", (said,))
    assert exit_of(job, decision).code == 0
    assert exit_of(job, decision, strict=True) == Exit(
        code=70, reason="--strict: the job ended with exit code 0, but failures were dealt with on the way"
    )
    other = arbitrate(job, [a_match("D201", explains=(2, 3))])
    assert other.outcome is JobOutcome.CRASH


def test_what_cannot_be_said_of_failures_that_were_dealt_with_costs_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(job: object) -> list[object]:
        raise KeyError(7)

    monkeypatch.setattr("diagnostics.diagnosis.verdict.failure_fates", fails)
    decision = arbitrate(a_job(a_process(), code=0), [a_match("D501", "duplicate-data", outcome=WRONG)])
    assert (decision.outcome, decision.failure_class, decision.handled) == (WRONG, "duplicate-data", ())
    assert decision.notes == ("what the job did with failures is not known: KeyError: 7",)


@pytest.mark.parametrize(
    ("restart", "confidence", "order"),
    [
        (1, Confidence.CONFIRMED, ["D303", "D201"]),
        (1, Confidence.LIKELY, ["D201", "D303"]),
        (0, Confidence.CONFIRMED, ["D201", "D303"]),
    ],
    ids=["proved of the last start", "guessed of the last start", "one start"],
)
def test_a_failure_that_a_restart_left_behind_comes_after_what_is_proved_of_the_last_start(
    restart: int, confidence: Confidence, order: list[str]
) -> None:
    first = a_process(100, code=1)
    last = a_process(101, code=None, signal=9, restart=restart, began_s=5.0)
    raised_at_first = a_match("D201", explains=(100,), began_s=1.0)
    hung = a_match("D303", "collective-missing", outcome=HANG, confidence=confidence, explains=(101,), began_s=6.0)
    decision = arbitrate(a_job(first, last, ranks=(last,)), [hung, raised_at_first])
    assert [one.finding.code for one in (decision.first, *decision.others) if one] == order
