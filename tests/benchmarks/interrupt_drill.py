"""Ctrl-C and SIGTERM at random moments of every command: ended within 3 s, nothing left behind, whatever it was at.

    python tests/benchmarks/interrupt_drill.py [--moments 50] [--seed 1] [--only run,diagnose]

Looked at: seconds from the last signal to the end, exit code, what stands on the screen, processes that are left,
files that are half written. A job that `run` watches gets its grace on the first signal; the second one ends all.
A signal comes when the command listens, not while its interpreter starts; one that finds the answer wholly written
changes nothing any more, and the code is the command's own.
The limit is that of a quiet machine; a busy one is given as much more as a loop took longer than its own CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).parent.parent.parent
DOCTOR = (sys.executable, "-c", "from diagnostics.cli import main; main()")
MARK = "INTERRUPT_DRILL"
LIMIT_S = 3.0
GIVE_UP_S = 60.0
Answer = tuple[int | None, bytes]  # exit code and the end of the output
NEVER: Answer = (None, b"")
# What a command may be at when the signal comes, in words for a job of Python.
SLEEPS = "import time; print('begins', flush=True); time.sleep(300)"
DIES = "import sys; print('x' * 500_000); print('no end of line ' * 40_000, end=''); sys.exit(1)"
LEAVES = (
    "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import signal, time;"
    " signal.signal(15, signal.SIG_IGN); time.sleep(300)']); print('begins', flush=True)"
)
STUBBORN = (
    "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; print('begins', flush=True);"
    " time.sleep(300)"
)
TRAIN = "import torch\n\n\ndef make():\n    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line, and the time (s) in which it is usually at work."""

    name: str
    words: Sequence[str]
    longest_s: float
    signals: int = 1  # 2: the first one is the job's


@dataclass(slots=True)
class Trial:
    """What one command did after the signal."""

    command: str
    number: signal.Signals
    after_s: float
    took_s: float = 0.0
    busy: float = 1.0
    code: int | None = None
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        told = "; ".join(self.problems) or "ok"
        return (
            f"{self.command:14} {self.number.name:8} after {self.after_s:5.2f} s: ended in {self.took_s:5.2f} s"
            f" (x{self.busy:.1f} busy), code {self.code}: {told}"
        )


def commands(folder: Path) -> list[Command]:
    """Makes what the commands need in `folder`, and returns them."""
    (folder / "model.py").write_text(TRAIN)
    (folder / "hostile.log").write_text("a b" * 200_000 + "\nTraceback (most recent call last):\nKeyError: 1\n" * 2000)
    for name in ("cache", "broken"):
        (folder / name).mkdir()
        for number in range(1500):
            data = pickle.dumps({"frames": list(range(200)), "device": "cuda:0"})
            (folder / name / f"{number:05d}.pkl").write_bytes(data[: len(data) // 2] if number % 3 else data)
    python = [sys.executable, "-c"]
    subprocess.run(
        [*DOCTOR, "run", "--quiet", "--report-dir", "made", "--", *python, DIES],
        cwd=folder, stdout=subprocess.DEVNULL, check=False, env=environment(""),
    )  # fmt: skip
    config = str(PROJECT / "configs" / "quickstart.yaml")
    run = ("run", "--report-dir", "new", "--")
    return [
        Command(name="run dies", words=[*run, *python, DIES], longest_s=3.0),
        Command(name="run sleeps", words=[*run, *python, SLEEPS], longest_s=2.5, signals=2),
        Command(name="run stubborn", words=[*run, *python, STUBBORN], longest_s=2.5, signals=2),
        Command(name="run leaves", words=[*run, *python, LEAVES], longest_s=6.0, signals=2),
        Command(
            name="run preflight", words=["run", "--preflight", *run[1:], *python, SLEEPS], longest_s=4.0, signals=2
        ),
        Command(name="diagnose", words=["diagnose", "made", "--report-dir", "new"], longest_s=1.5),
        Command(name="diagnose log", words=["diagnose", "--log", "hostile.log", "--report-dir", "new"], longest_s=2.0),
        Command(name="attach", words=["attach", "PID", "--report-dir", "new"], longest_s=8.0),
        Command(name="stacks", words=["stacks", "PID"], longest_s=2.0),
        Command(name="audit", words=["audit", str(PROJECT / "diagnostics")], longest_s=8.0),
        Command(name="inspect", words=["inspect", config], longest_s=6.0),
        Command(name="scan-cache", words=["scan-cache", "--deep", "cache", "broken"], longest_s=1.5),
        Command(name="fix-cache", words=["fix-cache", "--yes", "copied"], longest_s=2.0),
        Command(name="bisect-model", words=["bisect-model", "model.py:make"], longest_s=10.0),
        Command(name="preflight", words=["preflight", config], longest_s=10.0),
        Command(name="explain", words=["explain"], longest_s=1.0),
    ]


def environment(mark: str) -> dict[str, str]:
    """The environment of a command that is looked for afterwards."""
    return {**os.environ, MARK: mark, "PYTHONPATH": str(PROJECT)}


def drill(command: Command, folder: Path, number: signal.Signals, after_s: float, whole: Answer = NEVER) -> Trial:
    """Starts a command, sends the signal after a time, and looks at what came of it. `whole`: undisturbed()."""
    for name in ("new", "copied"):
        shutil.rmtree(folder / name, ignore_errors=True)
    if "copied" in command.words:
        shutil.copytree(folder / "broken", folder / "copied")
    trial, mark = Trial(command=command.name, number=number, after_s=after_s), uuid.uuid4().hex
    target = subprocess.Popen([sys.executable, "-c", SLEEPS], stdout=subprocess.DEVNULL)
    words = [str(target.pid) if word == "PID" else word for word in command.words]
    with (folder / "out.txt").open("wb") as out, (folder / "err.txt").open("wb") as err:
        process = subprocess.Popen(
            [*DOCTOR, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment(mark),
            start_new_session=True,
        )  # fmt: skip
        try:
            process.wait(after_s)
            over = True
        except subprocess.TimeoutExpired:
            over = False
            _until_it_listens(process)
            _interrupt(process, command, number, trial)
    trial.code = process.returncode
    written = _end_of((folder / "out.txt").read_bytes())
    _look(folder, trial, mark, over=over or (trial.code, written) == whole)
    target.kill()
    target.wait()
    return trial


def undisturbed(command: Command, folder: Path) -> Answer:
    """Returns what a command that nobody interrupts ends with, and the end of what it writes."""
    if command.name.startswith("run") or "PID" in command.words:
        return NEVER  # they end when their job does
    if "copied" in command.words:
        shutil.rmtree(folder / "copied", ignore_errors=True)
        shutil.copytree(folder / "broken", folder / "copied")
    ended = subprocess.run(
        [*DOCTOR, *command.words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=environment("undisturbed"), check=False,
    )  # fmt: skip
    return ended.returncode, _end_of(ended.stdout)


def _end_of(output: bytes) -> bytes:
    """Returns the last line; times and counts differ."""
    return re.sub(rb"[\d.]+", b"#", (output.splitlines() or [b""])[-1])


def _until_it_listens(process: subprocess.Popen[bytes]) -> None:
    """Returns when the process has a handler for SIGTERM, or is over."""
    bit = 1 << (signal.SIGTERM - 1)
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
        if int(caught.split()[1], 16) & bit:
            return
        time.sleep(0.005)


def _interrupt(process: subprocess.Popen[bytes], command: Command, number: signal.Signals, trial: Trial) -> None:
    busy = Busy()
    began = time.monotonic()
    for left in reversed(range(command.signals)):
        began = time.monotonic()
        if number == signal.SIGINT:
            with suppress(ProcessLookupError):  # it has just ended
                os.killpg(process.pid, number)  # as a terminal does
        else:
            process.send_signal(number)
        try:
            process.wait(0.6 if left else GIVE_UP_S)
            break
        except subprocess.TimeoutExpired:
            continue
    trial.took_s, trial.busy = time.monotonic() - began, busy.stop()
    if process.poll() is None:
        trial.problems.append(f"no end in {GIVE_UP_S:.0f} s")
        process.kill()
        process.wait()
    elif trial.took_s > LIMIT_S * trial.busy:
        trial.problems.append(f"took longer than {LIMIT_S:.0f} s")


class Busy:
    """How many times longer than on a quiet machine something takes now."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._wall_s = self._own_s = 0.0
        self._thread = threading.Thread(target=self._loop)
        self._thread.start()

    def _loop(self) -> None:
        while not self._over.wait(0.05):
            wall, own = time.monotonic(), time.thread_time()
            while time.thread_time() - own < 0.01:
                continue
            self._wall_s += time.monotonic() - wall
            self._own_s += time.thread_time() - own

    def stop(self) -> float:
        self._over.set()
        self._thread.join()
        return max(1.0, self._wall_s / self._own_s) if self._own_s else 1.0


def _look(folder: Path, trial: Trial, mark: str, *, over: bool) -> None:
    stopped = 128 + trial.number
    if not over and trial.code != stopped and not (trial.command.startswith("run") and trial.code in (0, 1)):
        trial.problems.append(f"exit code {trial.code}, not {stopped}")
    screen = (folder / "err.txt").read_text("utf-8", "replace")
    # A job in Python that hears Ctrl-C says so itself, and its words pass through.
    of_job = trial.command.startswith("run") and trial.number == signal.SIGINT and "\nKeyboardInterrupt" in screen
    if "Traceback (most recent call last)" in screen and not of_job:
        trial.problems.append("a traceback on the screen: " + screen[-400:])
    if left := _left(mark):
        trial.problems.append(f"left behind: {left}")
    for path in (folder / "new").rglob("*"):
        if path.name.endswith((".part", ".tmp")):
            trial.problems.append(f"half a file: {path.name}")
        if path.suffix == ".json" and path.is_file():
            try:
                json.loads(path.read_bytes())
            except ValueError as error:
                trial.problems.append(f"{path.name}: {error}")


def _left(mark: str) -> list[str]:
    """Returns the command lines of processes that still carry the mark, some time after; ends them."""
    until = time.monotonic() + 1.5
    while found := _marked(mark):
        if time.monotonic() > until:
            shown = [f"{pid} {' '.join(Path(f'/proc/{pid}/cmdline').read_text().split(chr(0)))[:120]}" for pid in found]
            for pid in found:
                os.kill(pid, signal.SIGKILL)
            return shown
        time.sleep(0.05)
    return []


def _marked(mark: str) -> list[int]:
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def main() -> int:
    """Runs the drill; exit code 1 where something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="names of commands, with commas between")
    given = parser.parse_args()
    chance = random.Random(given.seed)
    folder = Path(tempfile.mkdtemp(prefix="interrupt-drill-"))
    trials = []
    whole: dict[str, Answer] = {}
    try:
        wanted = given.only.split(",") if given.only else []
        all_commands = [one for one in commands(folder) if not wanted or one.name in wanted]
        for at in range(given.moments):
            command = all_commands[at % len(all_commands)]
            number = chance.choice((signal.SIGINT, signal.SIGTERM))
            if command.name not in whole:
                whole[command.name] = undisturbed(command, folder)
            trial = drill(command, folder, number, chance.uniform(0.05, command.longest_s), whole[command.name])
            trials.append(trial)
            print(trial, flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    wrong = [one for one in trials if one.problems]
    longest = max((one.took_s / one.busy for one in trials), default=0.0)
    said = f"{len(trials)} moments, {len(wrong)} with a problem; longest {longest:.2f} s of a quiet machine"
    print(f"{said} (seed {given.seed})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
