"""Ctrl-C and kill -9 in the middle of 200 files, and the question on a real terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import torch

from diagnostics.cache.scan.one_file import scan_file

Fix = Callable[..., "subprocess.CompletedProcess[str]"]
COMMAND = (sys.executable, "-c", "import sys; from diagnostics.cli import main; main()", "fix-cache")
DEADLINE_S = 60.0
FILES = 200


@pytest.fixture
def many(torch_files: Path, tmp_path: Path) -> Path:
    """200 bad files in `tmp_path/many`, half of them repaired by an append, half by a copy."""
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(FILES):
        source = "cuda.pt" if number % 2 else "legacy_cuda.pt"
        shutil.copy(torch_files / source, folder / f"sample_{number:05d}.pt")
    return folder


def bad(folder: Path) -> int:
    return sum(bool(scan_file(str(path)).problems) for path in folder.glob("*.pt"))


def started_and_at_work(folder: Path) -> subprocess.Popen[str]:
    """Returns the command once it has changed a few files, but by far not all."""
    before = {path: path.stat().st_ctime_ns for path in folder.iterdir()}
    process = subprocess.Popen(
        [*COMMAND, "--yes", "--jobs", "2", "--json", str(folder)],
        cwd=folder.parent, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until and sum(path.stat().st_ctime_ns != seen for path, seen in before.items()) < 5:
        assert process.poll() is None, "it ended before it was interrupted"
    return process


def all_load(folder: Path) -> None:
    for path in folder.glob("*.pt"):
        torch.load(path, map_location="cpu", weights_only=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_finishes_the_files_at_work_and_shows_what_was_done(
    many: Path, fix: Fix, number: signal.Signals
) -> None:
    process = started_and_at_work(many)
    process.send_signal(number)
    shown, told = process.communicate(timeout=DEADLINE_S)
    body = json.loads(shown)
    done = len(body["outcomes"])
    assert (process.returncode, body["exit_code"], body["interrupted"]) == (128 + number, 128 + number, True)
    assert 5 <= done < FILES
    assert f"stopped: {FILES - done} files not begun; each file is whole, old or new; run again to go on" in told
    assert {item["status"] for item in body["outcomes"]} == {"done"}
    assert bad(many) == FILES - done
    assert [path.name for path in many.iterdir() if path.name.startswith(".")] == []
    all_load(many)
    assert fix("--yes", many).returncode == 0
    assert bad(many) == 0


def test_kill_9_leaves_each_file_old_or_new_and_the_next_run_goes_on(many: Path, fix: Fix) -> None:
    process = started_and_at_work(many)
    process.kill()
    process.communicate(timeout=DEADLINE_S)
    all_load(many)
    assert 0 < bad(many) < FILES
    assert fix("--yes", many).returncode == 0
    assert (bad(many), len(list(many.iterdir()))) == (0, FILES)


def test_a_killed_copy_to_the_ram_disk_has_no_half_file_and_goes_on(many: Path, other_disk: Path, fix: Fix) -> None:
    target = other_disk / "cache"
    process = subprocess.Popen(
        [*COMMAND, "--yes", str(many), "--to", str(target)], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        cwd=many.parent,
    )  # fmt: skip
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until and not list(target.glob("*.pt")):
        assert process.poll() is None
    process.kill()
    process.wait(DEADLINE_S)
    all_load(target)
    assert bad(target) == 0
    assert fix("--yes", many, "--to", target).returncode == 0
    assert (bad(target), len(list(target.iterdir())), bad(many)) == (0, FILES, FILES)


def read_until(terminal: int, wanted: str) -> str:
    """Returns what a terminal shows, up to `wanted` or its end."""
    shown = ""
    until = time.monotonic() + DEADLINE_S
    while wanted not in shown and time.monotonic() < until:
        if select.select([terminal], [], [], 1)[0]:
            try:
                shown += os.read(terminal, 1 << 16).decode()
            except OSError:  # the other end is closed: the process has ended
                break
    return shown


@pytest.mark.parametrize(
    ("answer", "code", "end"),
    [
        ("y\n", 0, "5 of 5 cache files clean now, 5 were bad"),
        ("n\n", 1, "nothing was changed"),
        ("\n", 1, "nothing was changed"),
        # The newline: Python may miss a Ctrl-C that comes before readline waits.
        ("\x03\n", 130, "interrupted by Ctrl-C"),
    ],
)
def test_the_plan_is_shown_and_asked_about_once(cache: Path, answer: str, code: int, end: str) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "cache"], cwd=cache.parent, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=_controlling_terminal,
    )  # fmt: skip
    os.close(theirs)
    question = "Repair 3 files and move 2 files? [y/N]: "
    shown = read_until(ours, question)
    assert shown.endswith(question)
    assert "  append         2  " in shown
    assert bad(cache) == 2  # of those at the top: nothing was changed yet
    os.write(ours, answer.encode())
    rest = read_until(ours, "never shown")
    assert process.wait(DEADLINE_S) == code
    os.close(ours)
    assert end in rest
    assert bad(cache) == (0 if code == 0 else 2)


def _controlling_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_kill_9_while_many_files_are_looked_at_leaves_no_process(torch_files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    for number in range(6000):
        os.link(torch_files / "cuda.pt", folder / f"sample_{number:05d}.pt")
    process = subprocess.Popen(
        [*COMMAND, "--dry-run", "--jobs", "2", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    parent, children = psutil.Process(process.pid), []
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until and len(children) < 3:  # two workers, and what keeps track of their resources
        assert process.poll() is None, "it ended before it was killed"
        children = parent.children()
    process.kill()
    process.wait(DEADLINE_S)
    _, alive = psutil.wait_procs(children, timeout=DEADLINE_S)
    assert alive == []
