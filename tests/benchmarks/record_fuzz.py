"""Diagnoses records made wrong on purpose: no exception but DoctorError, no hang, bounded memory, pages that hold.

    python tests/benchmarks/record_fuzz.py [--minutes 20] [--inputs N] [--seed 0] [--first N] [--seeds FOLDER]

Seeds are real records of programs of the zoo (record_seeds.py), changed as record_mutations.py says; one input is read,
diagnosed and rendered as page, JSON and summary, in a forked child that may use so many seconds of CPU time and so much
more memory than its parent. What broke is saved below --failures with the reason, and the exit code is 1. The same seed
and number give the same input: `--first NUMBER --inputs 1`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS), str(TESTS / "benchmarks")]

from record_mutations import Odd, mutated  # noqa: E402 - found by the line above
from shown_text import page_faults, unprintable  # noqa: E402

from diagnostics.core.errors import DoctorError  # noqa: E402
from diagnostics.diagnosis.engine import examine  # noqa: E402
from diagnostics.report.page import json_text, markdown  # noqa: E402
from diagnostics.report.summary import summary_lines  # noqa: E402

CPU_S = 8.0  # of one input
MEMORY_BYTES = 1 << 30  # of one input, beyond what the parent has
NO_ANSWER_S = 120.0  # wall clock: something waits
Seeds = Mapping[str, Mapping[str, bytes]]


class TooLongError(BaseException):
    """An input took more than CPU_S; no `except Exception` on the way swallows it."""


@dataclass(slots=True)
class Tally:
    """What was seen."""

    inputs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    mutations: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, int] = (0.0, -1)
    largest_mib: tuple[float, int] = (0.0, -1)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def plain(self, seconds: float) -> dict[str, Any]:
        """Returns it as JSON has it."""
        kinds = Counter(f"{one['what'].partition(':')[0]} | {one['at']}" for one in self.failures)
        return {
            "inputs": self.inputs,
            "seconds": round(seconds, 1),
            "outcomes": dict(self.outcomes.most_common()),
            "mutations": dict(self.mutations.most_common()),
            "slowest_cpu_s": self.slowest,
            "largest_mib": self.largest_mib,
            "failures": len(self.failures),
            "failures_by_kind": dict(kinds.most_common()),
            "failed": self.failures[:50],
        }


def read_seeds(folder: Path) -> Seeds:
    """Returns the files of every record below, by its folder's name and their path in it."""
    return {
        one.name: {str(p.relative_to(one)): p.read_bytes() for p in sorted(one.rglob("*")) if p.is_file()}
        for one in sorted(folder.iterdir())
        if one.is_dir() and not one.name.startswith(".")
    }


def lay(record: Mapping[str, bytes | Odd], folder: Path) -> None:
    """Writes a record; what has no place any more, below a file, is left out."""
    for name, data in sorted(record.items(), key=lambda item: isinstance(item[1], bytes)):
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(data, bytes):
                path.write_bytes(data)
            elif data.kind == "link":
                path.symlink_to(data.target)
            elif data.kind == "fifo":
                os.mkfifo(path)
            elif data.kind == "hole":
                with path.open("wb") as file:
                    file.truncate(data.size)
            else:
                path.mkdir()
                path.chmod(0o700 if data.kind == "folder" else 0)
        except OSError:
            continue


def judge(folder: Path) -> dict[str, Any]:
    """Diagnoses one record, in this process; returns its outcome and what was wrong with the answer."""
    try:
        report = examine(folder)
        page, body, lines = markdown(report), json_text(report), summary_lines(report, "report: there")
    except DoctorError as error:
        bad = unprintable(error.message)
        return {"outcome": "DoctorError", "what": f"its sentence: {bad}" if bad or "\n" in error.message else ""}
    json.loads(body, parse_constant=_refuse)
    faults = [f"on the page: {fault}" for fault in page_faults(page)]
    faults += [f"in the summary: {char!r}" for char in unprintable("\n".join(lines))]
    faults += [f"in report.json: {char!r}" for char in unprintable(body)]
    faults += [f"not asked: {gap}" for gap in report.not_captured if gap.startswith("signature ")]
    return {"outcome": str(report.failure_class), "what": "; ".join(faults[:3])}


def _refuse(word: str) -> float:
    raise ValueError(f"report.json holds {word}")


def try_in_child(folder: Path) -> dict[str, Any]:
    """Returns what judge() said in a child under limits, or how the child ended."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(folder, writing)
    os.close(writing)
    said = _said(reading, pid)
    os.close(reading)
    _, status, used = os.wait4(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    answer = json.loads(said) if said else {"outcome": "dead", "what": f"the child ended with {code}", "trace": ""}
    return {**answer, "cpu_s": used.ru_utime + used.ru_stime, "mib": max(0, used.ru_maxrss - _own_kib()) / 1024}


def _said(reading: int, pid: int) -> bytes:
    """Returns all that the child wrote; one that waits for something is killed, one that only gets no CPU is not."""

    def look(number: int, frame: FrameType | None) -> None:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state not in "RZ":
            os.kill(pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, NO_ANSWER_S, NO_ANSWER_S)
    chunks = []
    while chunk := os.read(reading, 1 << 16):
        chunks.append(chunk)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return b"".join(chunks)


def _child(folder: Path, writing: int) -> None:
    """Judges under limits, writes the answer, and never returns."""
    virtual = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (virtual + MEMORY_BYTES, virtual + MEMORY_BYTES))
    signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    try:
        answer = judge(folder)
    except BaseException as error:  # also TooLongError and MemoryError: they are what is looked for
        signal.setitimer(signal.ITIMER_PROF, 0)
        answer = {
            "outcome": "raised",
            "what": f"{type(error).__name__}: {error}"[:2000],
            "trace": traceback.format_exc(),
        }
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(json.dumps(answer).encode())
    os._exit(0)


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TooLongError(f"more than {CPU_S} s of CPU time")


def _own_kib() -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1])


def fuzz(seeds: Seeds, options: argparse.Namespace, tally: Tally) -> None:
    """Tries input after input until the time or their number is used up."""
    ends = time.monotonic() + options.minutes * 60
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="record-fuzz-") as above:
        folder = Path(above) / "record"
        for name, record in seeds.items():  # whole ones bring every signature and section in before the first fork
            lay(record, folder)
            if told := judge(folder)["what"]:
                raise SystemExit(f"{name}, unchanged: {told}")
            _remove(folder)
        gc.freeze()
        for number in range(options.first, options.first + options.inputs):
            if time.monotonic() > ends:
                return
            name, record, done = mutated(seeds, number, options.seed)
            lay(record, folder)
            answer = try_in_child(folder)
            tally.inputs += 1
            tally.outcomes[answer["outcome"]] += 1
            tally.mutations.update(done)
            tally.slowest = max(tally.slowest, (round(answer["cpu_s"], 2), number))
            tally.largest_mib = max(tally.largest_mib, (round(answer["mib"], 1), number))
            if answer["what"]:
                tally.failures.append(_saved(options.failures, folder, number, name, done, answer))
                if not options.quiet:
                    sys.stderr.write(f"{number} {name} {','.join(done)}: {answer['what'][:300]}\n")
            _remove(folder)


def _saved(
    failures: Path, folder: Path, number: int, name: str, done: list[str], answer: dict[str, Any]
) -> dict[str, Any]:
    failures.mkdir(parents=True, exist_ok=True)
    trace = str(answer.get("trace", ""))
    place = [line.strip() for line in trace.splitlines() if "/diagnostics/" in line][-1:]
    (failures / f"{number}.txt").write_text(f"{name} {done}\n{answer['what']}\n{trace}", errors="backslashreplace")
    return {"number": number, "seed": name, "mutations": done, "what": answer["what"][:300], "at": "".join(place)}


def _remove(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder)


def main() -> int:
    """Tries, prints and writes the result."""
    options = _options()
    began, tally = time.monotonic(), Tally()
    with tempfile.TemporaryDirectory(prefix="record-seeds-") as folder:
        if options.seeds is None:
            from record_seeds import write_seeds

            options.seeds = write_seeds(Path(folder))
        seeds = read_seeds(options.seeds)
    try:
        fuzz(seeds, options, tally)
    except KeyboardInterrupt:
        sys.stderr.write("stopped: what was seen so far\n")
    answer = {"benchmark": "record_fuzz", "seed": options.seed, **tally.plain(time.monotonic() - began)}
    print(json.dumps(answer, indent=2))
    if options.output:
        options.output.write_text(json.dumps(answer, indent=2) + "\n")
    return int(bool(tally.failures))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--inputs", type=int, default=1 << 40)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=Path, help="folder of records; default: made by programs of the zoo")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))  # noqa: S108 - memory
    parser.add_argument("--failures", type=Path, default=Path(tempfile.gettempdir()) / "record-fuzz-failures")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--quiet", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
