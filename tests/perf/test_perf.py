"""The answer of `ups-doctor perf`: from steps put together by hand, and from real runs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import made_steps as made
import pytest

from diagnostics.dynamic.steps.view import step_view
from diagnostics.perf.answer import PerfAnswer
from diagnostics.perf.command_line import with_one_rank
from diagnostics.perf.engine import made_of
from diagnostics.perf.page import json_text, markdown, terminal_lines
from diagnostics.perf.pictures import draw

FAST = {"data": 0.002, "forward": 0.01, "backward": 0.1, "optimizer": 0.002, "other": 0.002}
LATE = {"data": 0.002, "forward": 0.01, "backward": 0.025, "optimizer": 0.002, "other": 0.077}


def answer() -> PerfAnswer:
    job = made.job(made.rank(0, FAST, waits=0.075), made.rank(1, LATE), delays={0: 0.0, 1: 0.0})
    return made_of(job, step_view(job))


def test_the_terminal_says_who_is_waited_for_what_limits_and_what_would_give_most() -> None:
    assert terminal_lines(answer(), "report: perf.md") == [
        "1.32 of 2 ranks are at work on average, the rest waits; 116 ms a step; the bound is one rank that the others "
        "wait for.",
        "",
        "  rank  step ms  data wait  forward  backward  waits for ranks  optimizer  other host work  no CPU",
        "     0      116       2.00     10.0      25.0             75.0       2.00             2.00    0.00",
        "     1      116       2.00     10.0      25.0             0.00       2.00             77.0    0.00",
        "",
        "  steps 11 to 100, 90 of them steady; means, host times",
        "  samples a second: 69",
        "  exposed communication: 0 % of the step; waiting for a late rank: 32 % on average",
        "  straggler: rank 1 in 100 % of the steps, 65 % of each: it computes something beside the model",
        "  4 CPUs: the job 25 %, others 0 %, idle 75 %",
        "",
        "  1.  65 %  rank 1 is last in 100 % of the steps, by 75.0 ms: it computes something beside the model (other "
        "host work)",
        "            do this work less often, in a process of its own, or spread over the ranks. Estimate: up to 65 % "
        "of the step",
        "",
        "  report: perf.md",
    ]


@pytest.mark.parametrize("width", [60, 80])
def test_on_a_narrow_terminal_nothing_is_lost_and_no_line_too_long(width: int) -> None:
    whole, narrow = (terminal_lines(answer(), "report: perf.md", width=one) for one in (0, width))
    assert max(map(len, narrow)) <= width
    said = " ".join(" ".join(narrow).split())
    assert [line for line in (whole[0], *whole[6:]) if " ".join(line.split()) not in said] == []
    assert [cell for line in whole[2:5] for cell in line.split() if cell not in said.split()] == []


def test_the_heads_of_a_table_have_a_line_for_each_word_where_it_would_be_too_wide() -> None:
    assert terminal_lines(answer(), "report: perf.md", width=80)[3:9] == [
        "                                       waits             other",
        "        step  data                       for              host    no",
        "  rank    ms  wait  forward  backward  ranks  optimizer   work   CPU",
        "     0   116  2.00     10.0      25.0   75.0       2.00   2.00  0.00",
        "     1   116  2.00     10.0      25.0   0.00       2.00   77.0  0.00",
        "",
    ]


def test_page_json_and_pictures_say_the_same(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need it: pip install matplotlib")
    names, missing = draw(answer(), tmp_path)
    assert (names, missing) == (["steps_by_rank.png", "step_times.png", "waits_over_time.png"], "")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [*names, *(name.replace(".png", ".svg") for name in names)]
    )
    page = markdown(answer(), names)
    assert "1. **65 %** (estimate; measured cost 65 %): rank 1 is last in 100 % of the steps" in page
    assert all(f"![{name}]({name})" in page for name in names)
    told = json.loads(json_text(answer()))
    assert (told["schema"], told["kind"], told["bound"], told["efficiency"]) == (1, "perf", "late_rank", None)
    assert told["straggler"] == {
        "rank": 1, "often": 1.0, "cost": 0.6466, "reason": "cpu", "phase": "other", "same_model": True,
    }  # fmt: skip
    assert told["ranks"][0]["phases_s"]["collective"] == 0.075


@pytest.mark.parametrize(
    ("command", "one"),
    [
        ("torchrun --nproc-per-node=4 train.py -n 4", "torchrun --nproc-per-node=1 train.py -n 4"),
        ("/venv/bin/torchrun --nproc_per_node 2 train.py", "/venv/bin/torchrun --nproc_per_node 1 train.py"),
        ("python -m torch.distributed.run -n 2 a.py", "python -m torch.distributed.run -n 1 a.py"),
        ("accelerate launch --num_processes 2 a.py --x 1", "accelerate launch --num_processes 1 a.py --x 1"),
        ("torchrun train.py --num_processes 3", None),
        ("python train.py --num_processes 3", None),
        ("bash run.sh", None),
    ],
)  # fmt: skip
def test_the_line_of_one_rank_changes_the_launcher_s_number_only(command: str, one: str | None) -> None:
    changed = with_one_rank(command.split())
    assert (None if changed is None else " ".join(changed)) == one


TRAIN = """
import sys, time
import torch
from torch import nn

torch.set_num_threads(1)
print("a line of the job", flush=True)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(int(sys.argv[1])):
    model(torch.ones(4, 8)).sum().backward()
    time.sleep(0.005)
    optimizer.step()
"""


def perf(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    doctor = str(Path(sys.executable).with_name("ups-doctor"))
    return subprocess.run(
        [doctor, "perf", *words], cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )


def test_a_command_is_run_until_it_is_measured_and_asked_again_later(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    # It would train for an hour.
    first = perf(tmp_path, "--steps", "40", "--report-dir", "out", "--json", "--", sys.executable, "train.py", "720000")
    assert first.returncode == 0, first.stderr
    told = json.loads(first.stdout)
    assert "a line of the job" in first.stderr
    assert told["bound"] == "host"
    assert told["steps"]["last"] >= 40
    assert json.loads((tmp_path / "out" / "record" / "job.json").read_text())["ended_by"] == "measured"

    again = perf(tmp_path, "out", "--json")
    assert (again.returncode, json.loads(again.stdout)) == (0, told)
    assert (tmp_path / "out" / "perf.md").read_text().startswith("# Why it is not N times as fast\n")


@pytest.mark.parametrize(("number", "code", "name"), [(signal.SIGINT, 130, "Ctrl-C"), (signal.SIGTERM, 143, "SIGTERM")])
def test_who_ends_it_before_it_is_measured_is_told_which_signal_it_was(
    tmp_path: Path, number: signal.Signals, code: int, name: str
) -> None:
    job = "import time; open('begun', 'w').close(); time.sleep(600)"
    doctor = str(Path(sys.executable).with_name("ups-doctor"))
    running = subprocess.Popen(
        [doctor, "perf", "--", sys.executable, "-c", job], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.05)
    running.send_signal(number)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said.splitlines()[-1]) == (code, f"interrupted by {name}")


def test_a_command_that_is_not_there_gives_the_code_of_a_shell(tmp_path: Path) -> None:
    found = perf(tmp_path, "--report-dir", "out", "--", "no-such-program")
    assert (found.returncode, found.stdout, found.stderr.splitlines()[0]) == (
        127, "", "error: no-such-program: command not found",
    )  # fmt: skip


CRASHES = TRAIN + "    if step == 3:\n        raise KeyError('scale')\n"


def test_a_command_that_crashes_is_told_as_a_watched_job_that_did(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(CRASHES)
    found = perf(tmp_path, "--report-dir", "out", "--", sys.executable, "train.py", "400")
    said = "ups-doctor: The job crashed: python-exception on rank 0 at train.py:15."
    assert (found.returncode, said in found.stderr.splitlines()) == (1, True), found.stderr
    assert found.stderr.splitlines()[-1] == "  report: out/report.md"
    assert json.loads((tmp_path / "out" / "report.json").read_text())["failure_class"] == "python-exception"
    again = perf(tmp_path, "out")
    assert (again.returncode, "ups-doctor diagnose out" in again.stderr) == (3, True), again.stderr


def test_a_command_that_only_says_that_it_failed_gives_its_code(tmp_path: Path) -> None:
    found = perf(tmp_path, "--report-dir", "out", "--", "sh", "-c", "exit 5")
    assert found.returncode == 5, found.stderr
    assert found.stderr.startswith("ups-doctor: The job crashed")


def test_too_few_steps_and_wrong_use_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    few = perf(tmp_path, "--report-dir", "out", "--", sys.executable, "train.py", "4")
    said = "too little to tell: 4 optimizer steps on the busiest rank; 10 steady ones that all ranks made are needed"
    assert (few.returncode, few.stderr.splitlines()[0]) == (3, f"error: {said}")
    wrong = {
        ("--",): "error: no command behind --",
        ("out", "--", "true"): "error: perf takes a RUN or -- CMD, not both",
        ("--baseline",): "error: --baseline needs -- CMD: a run that is over cannot be repeated with one rank",
        (): "error: reports holds no watched run",
    }
    assert {
        words: (found.returncode, found.stderr.splitlines()[0]) for words in wrong if (found := perf(tmp_path, *words))
    } == {words: (2, said) for words, said in wrong.items()}
