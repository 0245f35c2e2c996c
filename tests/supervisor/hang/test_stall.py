"""When a job is called stuck: the rule over histories, and the looks at real processes and real agents' files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from diagnostics.record.record import agent_environment, make_record_folder
from diagnostics.record.supervisor_facts import Stall
from diagnostics.supervisor.hang.progress import JobProgress, waits_for_orders
from diagnostics.supervisor.hang.stall_detector import ProgressSample, StallDetector, StallState

TICK_S = 0.5


def story(*parts: tuple[float, str], step_s: float = 0.0, ranks: bool = True) -> list[ProgressSample]:
    """Looks each half second; a part is a length and what is seen: s sure, b busy, o output, t a step, - nothing."""
    looks, now, steps = [], 0.0, 0
    for length_s, what in parts:
        for _ in range(round(length_s / TICK_S)):
            now += TICK_S
            steps += "t" in what
            looks.append(
                ProgressSample(
                    at_s=now,
                    sure="s" in what or "t" in what,
                    busy="b" in what,
                    output="o" in what,
                    steps=steps,
                    step_s=(step_s,) * min(steps, 8) if step_s else (),
                    has_ranks=ranks,
                )
            )
    return looks


def judged(looks: list[ProgressSample], timeout_s: float = 600.0) -> tuple[list[Stall], list[tuple[float, str]]]:
    """Returns the stalls, and when a report was asked for, withdrawn, and the job ended."""
    rule, events = StallDetector(timeout_s), []
    for seen in looks:
        judgement = rule.judge(seen)
        events += [(seen.at_s, word) for word in ("report", "withdraw", "end") if getattr(judgement, word)]
        if judgement.end:
            break
    return rule.stalls, events


STEPS = (20.0, "t")


@pytest.mark.parametrize(
    "parts",
    [
        [(25, "b"), STEPS],
        [(5, "s"), (25, "bo"), STEPS],
        [(600, "b"), STEPS],
        [STEPS, (25, "b"), STEPS],
        [STEPS, (9, "-"), STEPS, (9, "-"), STEPS],
        [STEPS, (120, "s"), STEPS],
        [STEPS, (55, "bo"), STEPS],
        [(14, "-"), STEPS],
    ],
    ids=[
        "an index is built before the first step",
        "and says so",
        "a compilation of ten minutes",
        "a slow checkpoint",
        "short pauses",
        "a long evaluation calls modules",
        "a long download says how far it is",
        "ranks wait for each other at the start",
    ],
)
def test_a_healthy_job_is_not_called_stuck(parts: list[tuple[float, str]]) -> None:
    assert judged(story(*parts)) == ([], [])


def test_a_job_that_stops_is_reported_after_ten_seconds_and_ended_after_the_timeout() -> None:
    assert judged(story(STEPS, (100, "-")), timeout_s=60) == (
        [Stall(began_s=20.0, seen_s=30.0)],
        [(30.0, "report"), (80.0, "end")],
    )


def test_a_report_is_withdrawn_when_progress_returns() -> None:
    assert judged(story(STEPS, (15, "-"), STEPS)) == (
        [Stall(began_s=20.0, seen_s=30.0, over_s=35.5)],
        [(30.0, "report"), (35.5, "withdraw")],
    )


def test_who_came_back_from_a_long_pause_is_given_more_time_the_next_time() -> None:
    stalls, _ = judged(story(STEPS, (20, "-"), STEPS, (29, "-"), STEPS, (60, "-")))
    assert [(stall.began_s, stall.seen_s) for stall in stalls] == [(20.0, 30.0), (109.0, 153.5)]


def test_patience_follows_the_length_of_a_step() -> None:
    slow = story((30, "t"), (100, "-"), step_s=4.0)
    assert judged(slow)[0] == [Stall(began_s=30.0, seen_s=70.0)]


def test_the_second_step_may_take_long() -> None:
    looks = story((1, "t"), (29, "-"), STEPS)
    assert judged(looks) == ([], [])


def test_a_rank_that_spins_is_reported_later_and_a_heartbeat_does_not_hide_a_stall_for_ever() -> None:
    assert judged(story(STEPS, (60, "b")))[1] == [(50.0, "report")]
    assert judged(story(STEPS, (90, "bo")))[1] == [(80.0, "report")]


def test_output_puts_off_the_end_to_twice_the_timeout() -> None:
    assert judged(story(STEPS, (400, "o")), timeout_s=100)[1] == [(80.0, "report"), (220.0, "end")]


def test_a_job_that_does_nothing_is_ended_after_the_timeout_also_before_its_first_step() -> None:
    assert judged(story((1, "s"), (100, "-")), timeout_s=20) == (
        [Stall(began_s=1.0, seen_s=16.0, before_first_step=True)],
        [(16.0, "report"), (21.0, "end")],
    )


def test_work_before_the_first_step_puts_off_report_and_end() -> None:
    assert judged(story((1, "s"), (200, "b")), timeout_s=20)[1] == [(61.0, "report"), (121.0, "end")]


def test_a_job_that_may_be_no_training_is_given_a_minute() -> None:
    assert judged(story((59, "-"), ranks=False)) == ([], [])
    assert judged(story((61, "-"), ranks=False))[1] == [(60.0, "report")]


def nears(looks: list[ProgressSample]) -> list[tuple[float, Stall]]:
    """Returns when a stall was first expected, and as what."""
    rule, found = StallDetector(600.0), []
    for seen in looks:
        near = rule.judge(seen).near
        if near is not None and (not found or found[-1][1] != near):
            found.append((seen.at_s, near))
    return found


def test_a_stall_is_expected_some_seconds_before_it_is_one_and_comes_as_it_was_expected() -> None:
    looks = story(STEPS, (12, "-"))
    expected = Stall(began_s=20.0, seen_s=30.0)
    assert (nears(looks), judged(looks)[0]) == ([(27.0, expected)], [expected])
    assert nears(story(STEPS, (6, "-"), STEPS)) == []


def test_one_who_works_in_between_is_expected_to_stall_later_than_before() -> None:
    found = nears(story(STEPS, (8, "-"), (2, "b"), (9, "-"), STEPS))
    assert [(at_s, stall.began_s, stall.seen_s) for at_s, stall in found] == [(27.0, 20.0, 30.0), (37.0, 20.0, 40.0)]


@pytest.mark.parametrize(
    ("argv", "waits"),
    [
        (("python", "-m", "ipykernel_launcher", "-f", "x.json"), True),
        (("/usr/bin/python3", "/usr/bin/jupyter-lab"), True),
        (("python", "-m", "pdb", "train.py"), True),
        (("python", "-i"), True),
        (("python", "train.py", "--notebook-style", "jupyter"), True),
        (("python", "train.py", "--config", "jupyter_like.yaml"), True),
        (("python", "flasky/train.py"), False),
        (("torchrun", "--nproc-per-node", "2", "train.py"), False),
    ],
)
def test_programs_that_wait_for_orders(argv: tuple[str, ...], waits: bool) -> None:
    assert waits_for_orders(argv) is waits


TRAIN = """
import sys, time, torch
model, steps = torch.nn.Linear(4, 4), int(sys.argv[1])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(steps):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    time.sleep(0.02)
print("done", flush=True)
{after}
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts a small training under the agent, or a program without one."""
    started = []
    make_record_folder(tmp_path / "agents")

    def go(source: str, *arguments: str, watched: bool = True) -> subprocess.Popen[bytes]:
        (tmp_path / "train.py").write_text(source)
        env = {**os.environ, **(agent_environment(tmp_path / "agents", pythonpath="") if watched else {})}
        argv = [sys.executable, *([] if watched else ["-I"]), str(tmp_path / "train.py"), *arguments]
        started.append(subprocess.Popen(argv, env={**env, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE))
        return started[-1]

    yield go
    for process in started:
        process.kill()
        process.communicate()


def look_until(
    progress: JobProgress, process: subprocess.Popen[bytes], wanted: Callable[[StallState], bool], *, scale: float = 1.0
) -> StallState:
    """Looks each 50 ms until something is wanted; `scale` makes the rule's clock run faster than ours."""
    began = time.monotonic()
    while time.monotonic() - began < 60:
        judgement = progress.look((time.monotonic() - began) * scale, {process.pid: 0}, 0)
        if wanted(judgement):
            return judgement
        time.sleep(0.05)
    raise AssertionError("it never came")


def test_a_training_that_stops_after_its_steps_is_found_and_comes_back(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = start(TRAIN.format(after="time.sleep(600)"), "100000")
    progress = JobProgress(tmp_path / "agents", stall_timeout_s=600)
    # On a busy machine the training may wait for a core for what are seconds of the rule's fast clock.
    look_until(progress, process, lambda one: one.patience_s not in (15.0, 30.0, 60.0), scale=20)
    process.send_signal(signal.SIGSTOP)
    found = look_until(progress, process, lambda one: one.report, scale=20)
    assert found.stall is not None
    assert not found.stall.before_first_step
    process.send_signal(signal.SIGCONT)
    look_until(progress, process, lambda one: one.withdraw, scale=20)
    assert progress.stalls[-1].over_s is not None


def test_a_look_at_a_training_takes_little_time(tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    process = start(TRAIN.format(after="time.sleep(600)"), "5")
    assert process.stdout is not None
    assert process.stdout.readline() == b"done\n"
    progress = JobProgress(tmp_path / "agents", stall_timeout_s=600)
    progress.look(0.0, {process.pid: 0}, 0)
    began = time.thread_time()
    for number in range(1, 101):
        progress.look(float(number), {process.pid: 0}, 0)
    assert (time.thread_time() - began) / 100 < 0.005


def test_a_busy_program_without_an_agent_is_left_alone(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    process = start("while True: pass", watched=False)
    progress = JobProgress(tmp_path / "agents", stall_timeout_s=600)
    judgements = []
    for second in range(1, 100):  # of the rule's clock; ticks of CPU run on ours
        judgements.append(progress.look(second * 1.5, {process.pid: 0}, 0))
        time.sleep(0.4 if second % 20 == 0 else 0.0)
    assert not any(one.end for one in judgements)


def test_an_agents_folder_that_is_gone_leaves_the_other_signs(tmp_path: Path) -> None:
    progress = JobProgress(tmp_path / "nowhere", stall_timeout_s=10)
    assert progress.look(1.0, {os.getpid(): 0}, 0).stall is None
    (tmp_path / "nowhere").mkdir()
    (tmp_path / "nowhere" / f"agent-{os.getpid()}-1.bin").write_bytes(b"short")
    (tmp_path / "nowhere" / f"agent-{os.getpid()}-2.bin").symlink_to("/dev/zero")
    assert progress.look(2.0, {os.getpid(): 0}, 0).stall is None
