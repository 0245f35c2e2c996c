from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Role, Severity
from diagnostics.report.page import json_text, markdown
from diagnostics.report.run_report import (
    NO_CLASS,
    UNKNOWN_CLASS,
    Coverage,
    RankRow,
    RunReport,
    SourceExcerpt,
    StackGroup,
    TimelineEntry,
)
from diagnostics.report.summary import MAX_LINES, summary_lines

GOLDEN = Path(__file__).parents[2] / "reports" / "examples" / "run"
ROOT = Finding(
    code="D201",
    name="module-crashes-natively",
    severity=Severity.ERROR,
    title="rank 1 died of SIGSEGV in the forward of blocks.0.attention (Attention) at model.py:31",
    where="rank 1, blocks.0.attention, model.py:31",
    evidence=(
        Evidence(source="agents/agent-4102-77.bin", observed="SIGSEGV after 3.2 s", expected="exit code 0"),
        Evidence(
            source="agents/stacks-4102-77.txt",
            observed="Segmentation fault\nmodel.py:31 forward\ntrain.py:58 main",
        ),
    ),
    fix=Fix(text="check the version of the library", commands=("ups-doctor bisect-model model:Net",)),
)
LOST = Finding(
    code="D209",
    name="lost-peer",
    severity=Severity.ERROR,
    title="rank 0 lost the connection to rank 1",
    where="rank 0, train.py:60",
    evidence=(Evidence(source="stderr of rank 0", observed="Connection closed by peer, token=abcdefgh12345678"),),
    role=Role.CASCADE,
)
CRASH = RunReport(
    doctor_version="0.1.0",
    provisional=False,
    outcome=JobOutcome.CRASH,
    failure_class="native-crash",
    culprit_ranks=(1,),
    victim_ranks=(0,),
    location="model.py:31",
    locations=("model.py:31", "train.py:58"),
    module="blocks.0.attention",
    root_cause="the native code called at model.py:31 wrote to address 0 (SIGSEGV)",
    fix="check the version of the library that model.py:31 calls",
    confidence=Confidence.CONFIRMED,
    findings=(ROOT, LOST),
    timeline=(
        TimelineEntry(at_s=0.9, rank=None, pid=4100, what="started torchrun"),
        TimelineEntry(at_s=3.2, rank=1, pid=4102, what="died of SIGSEGV", location="model.py:31"),
        TimelineEntry(at_s=3.3, rank=0, pid=4101, what="RuntimeError: Connection closed by peer"),
    ),
    ranks=(
        RankRow(
            rank=0, host="", pid=4101, exit_code=1, signal=None, role="victim", ended="exit code 1 after 3.3 s",
            last_step=4, last_module="blocks.1", last_collective="all_reduce #17",
        ),
        RankRow(
            rank=1, host="", pid=4102, exit_code=None, signal="SIGSEGV", role="culprit", ended="SIGSEGV after 3.2 s",
            last_step=3, last_module="blocks.0.attention", last_collective="all_reduce #16",
        ),
    ),
    coverage={
        "0": Coverage(agent=True, faulthandler=True, stacks=False, flight_recorder=False, core=False,
                      missing=("no core dump: the limit is 0",)),
        "1": Coverage(agent=True, faulthandler=True, stacks=False, flight_recorder=False, core=False,
                      missing=("no core dump: the limit is 0",)),
    },
    job_exit_code=1,
    exit_code=139,
    exit_code_reason="128 + 11: rank 1 died of SIGSEGV, which the launcher reported as 1",
    seconds={"job": 5.1, "detection": 1.2, "diagnosis": 0.1},
    command="torchrun --nproc-per-node 2 train.py --token [redacted]",
    environment={"OMP_NUM_THREADS": "1"},
    cwd="/home/someone/job",
    started="2026-03-01T12:00:00+0000",
    fix_commands=("ups-doctor bisect-model model:Net",),
    sources=(
        SourceExcerpt(location="model.py:31", lines=("    30  def forward(self, x):", ">   31      return attend(x)")),
    ),
    stacks=(StackGroup(ranks=(1,), captured="faulthandler", frames=("model.py:31 forward", "train.py:58 main")),),
    not_captured=("kernel log: permission denied",),
    repeat="ups-doctor run -- torchrun --nproc-per-node 2 train.py",
)  # fmt: skip
HEALTHY = replace(
    CRASH, outcome=JobOutcome.OK, failure_class=NO_CLASS, culprit_ranks=(), victim_ranks=(), location=None,
    locations=(), module=None, root_cause="", fix="", findings=(), sources=(), stacks=(), job_exit_code=0, exit_code=0,
    exit_code_reason="the job's own",
)  # fmt: skip
WRONG = replace(
    CRASH,
    outcome=JobOutcome.SILENT_WRONG,
    failure_class="duplicate-data",
    culprit_ranks=(0, 1),
    victim_ranks=(),
    module=None,
)


@pytest.mark.parametrize(("name", "text"), [("report.md", markdown(CRASH)), ("report.json", json_text(CRASH))])
def test_the_example_page_is_what_is_written_today(name: str, text: str) -> None:
    golden = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):  # read the difference in review: UPDATE_GOLDEN=1 pytest tests/test_run_page.py
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


def test_the_summary_is_the_verdict_in_a_few_lines() -> None:
    assert summary_lines(CRASH, "report: reports/20260301-120000-run/report.md") == [
        "ups-doctor: The job crashed: native-crash on rank 1 in blocks.0.attention at model.py:31.",
        "  who    rank 1; rank 0 only suffered",
        "  line   model.py:31:  return attend(x)",
        "  why    the native code called at model.py:31 wrote to address 0 (SIGSEGV)",
        "  fix    check the version of the library that model.py:31 calls",
        "  report: reports/20260301-120000-run/report.md",
    ]


def test_on_a_narrow_terminal_the_first_line_goes_on_below_and_loses_nothing() -> None:
    whole = summary_lines(CRASH, "report: r/report.md")
    narrow = summary_lines(CRASH, "report: r/report.md", width=50, colour=True)
    assert [re.sub("\033\\[[0-9;]*m", "", line) for line in narrow[:2]] == [
        "ups-doctor: The job crashed: native-crash on rank",
        "  1 in blocks.0.attention at model.py:31.",
    ]
    assert all(line.startswith("\033[1;31m") and line.endswith("\033[0m") for line in narrow[:2])
    assert (narrow[2], narrow[-1]) == (whole[1], whole[-1])
    assert summary_lines(CRASH, "report: r", width=5)[-2:] == ["         model.py:31 calls", "  report: r"]


def test_a_narrow_terminal_gets_a_reason_to_its_end_in_a_line_more() -> None:
    reason = "Rank 1 waits in barrier() at train.py:48; rank 0 waits in all_reduce(24, Float) of C++ at train.py:52: "
    hung = replace(CRASH, root_cause=f"{reason}none of them can ever go on")
    assert summary_lines(hung, "report: r", width=80)[-6:-2] == [
        "  line   model.py:31:  return attend(x)",
        "  why    Rank 1 waits in barrier() at train.py:48; rank 0 waits in",
        "         all_reduce(24, Float) of C++ at train.py:52: none of them can ever go",
        "         on",
    ]
    endless = summary_lines(replace(CRASH, root_cause=reason * 9, fix=reason * 9), "report: r", width=80)
    assert (len(endless), endless[-2][-4:], endless[-1]) == (MAX_LINES, " ...", "  report: r")


def test_the_note_of_a_job_that_was_interrupted_is_read_to_its_end_on_a_narrow_terminal() -> None:
    note = "SIGINT at 22.6 s ended the job while it went on; until then nothing was found that is wrong with it"
    assert summary_lines(replace(HEALTHY, notes=(note,)), "report: r", width=80)[1:-1] == [
        "  note   SIGINT at 22.6 s ended the job while it went on; until then nothing was",
        "         found that is wrong with it",
    ]


def test_a_healthy_job_gets_two_lines() -> None:
    assert summary_lines(HEALTHY, "report: r/report.md") == [
        "ups-doctor: The job ended well.",
        "  report: r/report.md",
    ]


@pytest.mark.parametrize(
    ("report", "by", "said"),
    [
        (HEALTHY, "interrupt", "ups-doctor: The job was interrupted."),
        (HEALTHY, "doctor", "ups-doctor: The job was ended by the doctor."),
        (WRONG, "interrupt", "ups-doctor: The job trained wrongly: duplicate-data on ranks 0, 1 at model.py:31."),
        (
            WRONG,
            "",
            "ups-doctor: The job claims success, but trained wrongly: duplicate-data on ranks 0, 1 at model.py:31.",
        ),
        (
            replace(CRASH, module=None),
            "interrupt",
            "ups-doctor: The job crashed: native-crash on rank 1 at model.py:31.",
        ),
    ],
)
def test_a_job_that_was_asked_to_end_neither_ended_well_nor_claims_success(
    report: RunReport, by: str, said: str
) -> None:
    assert summary_lines(replace(report, cut_short=by), "")[0] == said


def test_a_job_whose_end_nobody_saw_is_not_said_to_have_ended_well() -> None:
    unseen = replace(HEALTHY, confidence=Confidence.POSSIBLE)
    assert summary_lines(unseen, "")[0] == "ups-doctor: Nothing shows that the job failed."


def test_a_guess_says_that_it_is_one() -> None:
    guess = replace(CRASH, confidence=Confidence.LIKELY)
    assert "(likely, not proven)" in " ".join(summary_lines(guess, "report: r"))
    assert "how sure: likely: a guess that the evidence supports, not proven" in markdown(guess)


def test_an_unknown_cause_is_called_unknown() -> None:
    unknown = replace(CRASH, failure_class=UNKNOWN_CLASS, location=None, locations=(), sources=(), fix="")
    assert summary_lines(unknown, "")[0] == ("ups-doctor: The job crashed; why is unknown, here is what was seen.")


def test_the_summary_never_has_more_than_ten_lines() -> None:
    long = replace(CRASH, root_cause="because " * 100, fix="do " * 200, notes=("note " * 50,) * 9)
    assert len(summary_lines(long, "report: r")) <= MAX_LINES


def test_a_page_about_a_thousand_ranks_stays_short() -> None:
    healthy = (replace(CRASH.ranks[0], rank=rank, role="") for rank in range(1000))
    rows = (*healthy, replace(CRASH.ranks[1], rank=1000))
    lines = markdown(replace(CRASH, ranks=rows, victim_ranks=tuple(range(1000)))).splitlines()
    assert len(lines) < 150
    assert "969 more ranks stand in report.json." in lines
    assert any("1000 | 4102 | SIGSEGV after 3.2 s" in line for line in lines)


def test_no_secret_reaches_the_page() -> None:
    assert "abcdefgh12345678" not in markdown(CRASH) + json_text(CRASH)
