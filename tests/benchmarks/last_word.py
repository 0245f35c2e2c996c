"""Is the last report of a stalled job as good as the provisional one?   python tests/benchmarks/last_word.py

Each program of stalled_programs.py runs under `ups-doctor run` until its provisional report is there; then it is ended
in each of the WAYS. The final report, and that of `ups-doctor diagnose` afterwards, must name the same outcome, class,
ranks and line as the provisional one. Prints one row for each pair, then N of M; ends with 1 where one differs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stalled_programs import ONE, TWO, text_of

DOCTOR = Path(sys.executable).with_name("ups-doctor")
PROVISIONAL_S, END_S = 90.0, 60.0
SAID = ("outcome", "failure_class", "culprit_ranks", "location")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A job that stands still."""

    doctor: subprocess.Popen[bytes]
    folder: Path

    def jobs(self) -> list[int]:
        """Returns the pids of the job, those of its first process first."""
        return [one["pid"] for one in self.facts()["processes"] if one["end"] is None]

    def facts(self) -> dict[str, Any]:
        """Returns job.json."""
        facts: dict[str, Any] = json.loads((self.folder / "report/record/job.json").read_text())
        return facts

    def report(self) -> dict[str, Any] | None:
        """Returns report.json, None where there is none yet."""
        with suppress(OSError, ValueError):
            report: dict[str, Any] = json.loads((self.folder / "report/report.json").read_text())
            return report
        return None


def _to_doctor(number: signal.Signals, times: int = 1) -> Callable[[Run], None]:
    def send(run: Run) -> None:
        for _ in range(times):
            run.doctor.send_signal(number)
            time.sleep(0.6)

    return send


def _to_job(number: signal.Signals, *, all_of_it: bool) -> Callable[[Run], None]:
    def send(run: Run) -> None:
        for pid in run.jobs() if all_of_it else run.jobs()[:1]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    return send


def _batch_limit(run: Run) -> None:
    """SIGTERM to all, the doctor last; SIGKILL later to what is left of the job."""
    _to_job(signal.SIGTERM, all_of_it=True)(run)
    run.doctor.terminate()
    time.sleep(4)
    _to_job(signal.SIGKILL, all_of_it=True)(run)


def _doctor_dies(run: Run) -> None:
    run.doctor.kill()
    run.doctor.wait()
    _to_job(signal.SIGKILL, all_of_it=True)(run)


def _nothing(run: Run) -> None:
    """It ends by itself."""


WAYS: dict[str, Callable[[Run], None]] = {
    "ctrl-c": _to_doctor(signal.SIGINT),
    "ctrl-c twice": _to_doctor(signal.SIGINT, 2),
    "sigterm": _to_doctor(signal.SIGTERM),
    "sighup": _to_doctor(signal.SIGHUP),
    "stall-timeout": _nothing,
    "timeout CMD": _nothing,
    "kill PID": _to_job(signal.SIGTERM, all_of_it=False),
    "kill -INT PID": _to_job(signal.SIGINT, all_of_it=False),
    "kill all": _to_job(signal.SIGTERM, all_of_it=True),
    "kill -9 all": _to_job(signal.SIGKILL, all_of_it=True),
    "batch limit": _batch_limit,
    "kill -9 doctor": _doctor_dies,
}


def said(report: dict[str, Any] | None) -> tuple[Any, ...]:
    """Returns what must not change."""
    return tuple(report[name] for name in SAID) if report else ("no report",)


def try_one(name: str, way: str, keep: Path | None) -> tuple[str, str, bool, list[str]]:
    """Returns the pair, whether all three reports agree, and what they said."""
    above = Path(tempfile.mkdtemp(prefix="last-word-"))
    folder = above / "job"
    folder.mkdir()
    (folder / "train.py").write_text(text_of(name))
    command = [sys.executable, "train.py"]
    if name in TWO:
        command[1:1] = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    if way == "timeout CMD":
        command[:0] = ["timeout", "45"]
    options = ["--stall-timeout", "25" if way == "stall-timeout" else "3600"]
    with (above / "output.txt").open("wb") as output:
        doctor = subprocess.Popen(
            [DOCTOR, "run", *options, "--report-dir", folder / "report", "--", *command],
            cwd=folder, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        run = Run(doctor=doctor, folder=folder)
        try:
            before = _follow(run)
            WAYS[way](run)
            with suppress(subprocess.TimeoutExpired):
                doctor.wait(END_S)
        finally:
            _end(run)
    final = run.report()
    again = above / "again"
    subprocess.run([DOCTOR, "diagnose", folder / "report", "--report-dir", again], capture_output=True, check=False)
    later = Run(doctor=doctor, folder=above)
    (above / "report").mkdir(exist_ok=True)
    told = final if way != "kill -9 doctor" else before
    with suppress(OSError):
        shutil.copy(again / "report.json", above / "report/report.json")
    words = [str(said(before)), str(said(told)), str(said(later.report()))]
    good = before is not None and before["provisional"] and len({*words}) == 1
    if keep is not None:
        shutil.copytree(above, keep / f"{name}-{way.replace(' ', '_')}", symlinks=True, ignore=_pipes)
    shutil.rmtree(above, ignore_errors=True)
    return name, way, good, words


def tried(name: str, way: str, keep: Path | None) -> tuple[str, str, bool, list[str]]:
    """Returns what try_one does; a pair that could not be tried differs."""
    try:
        return try_one(name, way, keep)
    except Exception as error:
        return name, way, False, [f"{type(error).__name__}: {error}", "", ""]


def _follow(run: Run) -> dict[str, Any] | None:
    """Returns the provisional report, a moment after the last change of it; None where none came."""
    until = time.monotonic() + PROVISIONAL_S
    while time.monotonic() < until and run.doctor.poll() is None:
        report = run.report()
        if report is not None:
            if report["provisional"]:
                time.sleep(1.5)
            return run.report() or report
        time.sleep(0.1)
    return run.report()


def _end(run: Run) -> None:
    with suppress(OSError, ValueError, KeyError):
        _to_job(signal.SIGKILL, all_of_it=True)(run)
    if run.doctor.poll() is None:
        run.doctor.kill()
        run.doctor.wait()


def _pipes(folder: str, names: Sequence[str]) -> set[str]:
    return {name for name in names if Path(folder, name).is_fifo()}


def main() -> int:
    """Tries all pairs; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[*ONE, *TWO], metavar="PROGRAM")
    parser.add_argument("--ways", nargs="+", default=list(WAYS), metavar="WAY", choices=list(WAYS))
    parser.add_argument("--jobs", type=int, default=4, help="so many at a time (4)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep records and outputs below DIR")
    options = parser.parse_args()
    pairs = [(name, way) for way in options.ways for name in options.only]
    good = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, way, same, words in pool.map(lambda pair: tried(*pair, options.keep), pairs):
            good += same
            print(f"{'same ' if same else 'DIFFERS'} {name:20} {way:16} {words[0]}", flush=True)
            if not same:
                print(f"{'':8}final    {words[1]}\n{'':8}diagnose {words[2]}", flush=True)
    print(f"{good} of {len(pairs)}")
    return 0 if good == len(pairs) else 1


if __name__ == "__main__":
    sys.exit(main())
