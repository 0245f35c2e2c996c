"""Names and messages that a job chose: none of them moves a cursor, breaks a page or a JSON file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from examples import MIXED
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shown_text import HOSTILE, page_faults, poisoned, unprintable
from test_run_page import CRASH

from diagnostics.core.console import printable
from diagnostics.report import folder as report
from diagnostics.report import page as run_page
from diagnostics.report import terminal
from diagnostics.report.check_report import CheckReport
from diagnostics.report.run_report import RunReport
from diagnostics.report.summary import summary_lines

DOCTOR = (sys.executable, "-c", "from diagnostics.cli import main; main()")
PIECES = st.one_of(st.sampled_from(HOSTILE), st.characters(), st.sampled_from(["x", " ", "train.py:3", "rank"]))
NAMES = st.lists(PIECES, min_size=1, max_size=6).map("".join)
PREFLIGHT = CheckReport(
    verdict=MIXED, command="ups-doctor preflight", started="now", doctor_version="1", exit_code=1,
    facts={"python": "3.11"}, variables={"NCCL_DEBUG": "INFO"},
)  # fmt: skip


def hostile(test):  # type: ignore[no-untyped-def]
    """Tries a test with each hostile name, and with what hypothesis makes of them."""
    tried = settings(max_examples=60, deadline=None, derandomize=True)(given(name=NAMES)(test))
    for name in HOSTILE:
        tried = example(name=name)(tried)
    return tried


@hostile
def test_the_page_of_a_run_holds_whatever_its_things_are_called(name: str) -> None:
    told: RunReport = poisoned(CRASH, name)
    assert page_faults(run_page.markdown(told)) == []
    assert json.loads(run_page.json_text(told))["kind"] == "run"
    assert unprintable(run_page.json_text(told)) == []
    lines = summary_lines(told, name)
    assert [line for line in lines if "\n" in line or unprintable(line)] == []
    coloured = printable("\n".join(summary_lines(told, name, colour=True)), colour=True)
    assert unprintable(coloured, colour=True) == []
    assert len(re.findall("\033", coloured)) == 2  # the doctor's own


@hostile
def test_the_page_and_the_screen_of_a_preflight_hold_whatever_its_things_are_called(name: str) -> None:
    told: CheckReport = poisoned(PREFLIGHT, name)
    assert page_faults(report.markdown(told)) == []
    assert json.loads(report.json_text(told))["kind"] == "preflight" or name
    lines = list(terminal.verdict_lines(told.verdict, verbose=True))
    assert unprintable(printable("\n".join(lines))) == []


@hostile
def test_what_goes_out_to_a_terminal_has_no_control_character(name: str) -> None:
    assert unprintable(printable(name)) == []
    assert unprintable(printable(name, colour=True), colour=True) == []


def test_plain_text_and_the_colours_of_the_doctor_go_out_as_they_are() -> None:
    text = "ok  \tpath/ü.py: 3 \u2192 4\n\033[1;31mFAIL\033[0m"
    assert printable(text, colour=True) == text
    assert printable(text) == "ok  \tpath/ü.py: 3 \u2192 4\n\\x1b[1;31mFAIL\\x1b[0m"


JOB = r"""
import ctypes, os, sys, threading, time
import torch

bad = sys.argv[1]
for fd in (1, 2):  # the doctor alone is heard
    os.dup2(os.open(os.devnull, os.O_WRONLY), fd)
Error = type("Bad" + bad, (RuntimeError,), {"__module__": "<b>|`\x1b[35m"})


def dies():
    raise Error("in a thread: " + bad)


def forward(self, x):
    while not os.path.exists("go"):
        time.sleep(0.05)
    raise Error("in forward: " + bad)


Net = type("Net" + bad, (torch.nn.Module,), {"forward": forward})
top = torch.nn.Sequential()
top.add_module("mod" + bad.replace(".", ""), Net())
thread = threading.Thread(target=dies, name="thread" + bad)
thread.start()
thread.join()
ctypes.CDLL(None).prctl(15, ("t" + bad).encode()[:15], 0, 0, 0)
open("there", "w").close()
top(torch.ones(1))
"""


def doctor(folder: Path, *words: str) -> str:
    """Returns what a command of the doctor says."""
    done = subprocess.run([*DOCTOR, *words], cwd=folder, capture_output=True, timeout=60, check=False)
    return done.stdout.decode() + ("" if "--json" in words else done.stderr.decode())


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A real job whose file, class, module, thread, title, argument and exception have hostile names: what was said."""
    folder = tmp_path_factory.mktemp("live")
    name = "\x1b[31m</details><img src=x>|`\n\u202e"
    script = folder / f"tr{name.replace('/', '')}.py"
    script.write_text(JOB)
    said = {}
    argv = [*DOCTOR, "run", "--report-dir", str(folder / "report"), "--", sys.executable, str(script), name]
    with (folder / "out").open("w+") as out:
        job = subprocess.Popen(argv, cwd=folder, stdout=out, stderr=out)
        try:
            until = time.monotonic() + 60
            while not (folder / "there").exists():
                assert time.monotonic() < until
                assert job.poll() is None, (folder / "out").read_text()
                time.sleep(0.02)
            for command in (
                ("stacks",),
                ("stacks", "--json"),
                ("attach", "--seconds", "1", "--report-dir", "attached"),
            ):
                done = subprocess.run(
                    [*DOCTOR, *command, str(job.pid)],
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                said[" ".join(command[:2])] = done.stdout + done.stderr
            (folder / "go").touch()
            job.wait(60)
        finally:
            job.kill()
            job.wait()
        out.seek(0)
        said["run"] = out.read()
    said["diagnose"] = doctor(folder, "diagnose", "-v", "report")
    return folder, said


def test_a_live_job_of_hostile_names_writes_nothing_raw_to_the_terminal(live: tuple[Path, dict[str, str]]) -> None:
    _, said = live
    assert {command: unprintable(text) for command, text in said.items() if unprintable(text)} == {}
    # On a busy machine a provisional report comes first.
    told = [line for line in said["run"].splitlines() if line.startswith("ups-doctor: The job crashed: ")]
    assert [line.partition(" in ")[2].partition("</")[0] for line in told] == ["mod?[31m"]
    assert told[0].endswith(".py:18.")
    assert json.loads(said["stacks --json"])


def test_a_live_job_of_hostile_names_breaks_no_page(live: tuple[Path, dict[str, str]]) -> None:
    folder, _ = live
    pages = {path.relative_to(folder): path.read_text() for path in folder.glob("*/report.md")}
    assert sorted(map(str, pages)) == ["attached/report.md", "report/report.md"]
    assert {name: page_faults(page) for name, page in pages.items() if page_faults(page)} == {}
    for path in folder.glob("*/report.json"):
        assert unprintable(path.read_text()) == []
        json.loads(path.read_text())
