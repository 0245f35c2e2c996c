"""Scans a million files made wrong on purpose: no exception, no hang, no more than 256 MiB.

    python tests/benchmarks/cache_fuzz.py [--inputs 1000000] [--seed 0] [--seconds 0] [--jobs N] [--output FILE.json]

Seeds are written by real libraries (torch, numpy, safetensors, h5py) at the start, changed as
tests/cache/formats/mutations.py says, and scanned through `scan_file`, every fourth with `deep`; where the format has
a `repair`, every eighth is asked for its patch, too. Each worker process may have 256 MiB of address space and
2 s of CPU time an input; one that neither answers nor ends is killed. What broke is saved below --failures with
its traceback, and the exit code is 1. The same seed and number give the same input: `--first NUMBER --inputs 1`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS / "cache" / "formats")]

from mutations import mutated  # noqa: E402 - found by the line above

from diagnostics.cache.file_bytes import DamagedFileError, FileBytes  # noqa: E402
from diagnostics.cache.file_scan import FileScan  # noqa: E402
from diagnostics.cache.patch import UnrepairableError  # noqa: E402
from diagnostics.cache.scan.one_file import formats, scan_file  # noqa: E402

MEMORY_BYTES = 256 << 20
CPU_S = 2.0  # of one input
STUCK_S = 60.0  # without any progress: not even the CPU limit was heard
POLL_S = 0.05
BATCH = 500  # inputs between two reports


def peak_kib() -> int:
    """Returns this process's own peak: ru_maxrss also counts what its parent had when it started us."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in status if line.startswith("VmHWM:")).split()[1])


class TooLongError(Exception):
    """An input took more than CPU_S."""


@dataclass(slots=True)
class Tally:
    """What one worker saw."""

    inputs: int = 0
    found: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, int, str] = (0.0, -1, "")
    failures: list[dict[str, Any]] = field(default_factory=list)
    peak_kib: int = 0

    def plain(self) -> dict[str, Any]:
        """Returns it as JSON has it."""
        return {
            "inputs": self.inputs,
            "found": dict(self.found),
            "slowest": list(self.slowest),
            "failures": self.failures,
            "peak_kib": peak_kib(),
        }


def read_seeds(folder: Path) -> dict[str, bytes]:
    """Returns every file below, by its path in the folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Range:
    """One worker's inputs, in a folder of its own where a changed file stands among its unchanged neighbours."""

    def __init__(self, seeds: dict[str, bytes], folder: Path, options: argparse.Namespace) -> None:
        self.seeds, self.folder, self.options, self.tally = seeds, folder, options, Tally()
        for name, data in seeds.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)

    def run(self, first: int, last: int) -> Tally:
        """Scans inputs first, first + 1, ... last - 1."""
        for number in range(first, last):
            (self.folder / "at").write_text(str(number))
            name, data = mutated(self.seeds, number, self.options.seed)
            path = self.folder / name
            _rewrite(path, data)
            began = time.process_time()
            try:
                self._one(str(path), number)
            except Exception as error:
                self._failed(number, name, data, f"{type(error).__name__}: {error}", traceback.format_exc())
            took = time.process_time() - began
            self.tally.slowest = max(self.tally.slowest, (round(took, 4), number, name))
            self.tally.inputs += 1
            if peak_kib() > MEMORY_BYTES >> 10:
                self._failed(number, name, data, "more than 256 MiB", "")
                break
            _rewrite(path, self.seeds[name])
        return self.tally

    def _one(self, path: str, number: int) -> None:
        signal.setitimer(signal.ITIMER_PROF, CPU_S)
        try:
            scan = scan_file(path, deep=number % 4 == 0)
            if number % 8 == 1 and scan.code:
                self._repair(path, scan, compact=number % 16 == 1)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        names = {problem.name for problem in scan.problems} or {scan.skipped or "clean"}
        self.tally.found.update(f"{scan.format or 'unknown'}: {name}" for name in names)

    def _repair(self, path: str, scan: FileScan, *, compact: bool) -> None:
        repair = next((getattr(plugin, "repair", None) for plugin in formats() if scan.code == plugin.CODE), None)
        if repair is None:
            return
        with FileBytes(path) as file:
            file.head(), file.tail()
            try:
                patch = repair(file, compact=compact)
            except (UnrepairableError, DamagedFileError):
                return
        self.tally.found[f"{scan.format}: {'patched' if patch else 'nothing to repair'}"] += 1

    def _failed(self, number: int, name: str, data: bytes, what: str, trace: str) -> None:
        self.tally.failures.append(_save(self.options.failures, number, name, data, what, trace))


def _rewrite(path: Path, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        os.pwrite(fd, data, 0)
        os.ftruncate(fd, len(data))
    finally:
        os.close(fd)


def _save(folder: Path, number: int, name: str, data: bytes, what: str, trace: str) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number}-{Path(name).name}"
    path.write_bytes(data)
    path.with_name(path.name + ".txt").write_text(f"{what}\n{trace}", encoding="utf-8", errors="backslashreplace")
    place = [line.strip() for line in trace.splitlines() if "/diagnostics/" in line][-1:]
    return {"number": number, "seed_file": name, "what": what[:200], "at": "".join(place), "saved": str(path)}


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TooLongError(f"more than {CPU_S} s of CPU time")


def work(options: argparse.Namespace) -> None:
    """One worker: prints a tally as a line of JSON for each batch."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGPROF, _too_long)
    seeds = read_seeds(options.seeds)
    formats()
    for begin in range(options.first, options.first + options.inputs, BATCH):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            (options.folder / "place").write_text(folder)
            last = min(begin + BATCH, options.first + options.inputs)
            print(json.dumps(Range(seeds, Path(folder), options).run(begin, last).plain()), flush=True)


@dataclass(slots=True)
class Share:
    """The inputs of one worker process and what became of them; one that dies is started again after its input."""

    options: argparse.Namespace
    folder: Path
    first: int
    last: int
    process: subprocess.Popen[str] | None = None
    heard: float = 0.0

    def start(self) -> None:
        """Starts a process for what is left."""
        arguments = ["--first", self.first, "--inputs", self.last - self.first, "--seed", self.options.seed]
        arguments += ["--seeds", self.options.seeds, "--failures", self.options.failures, "--folder", self.folder]
        self.heard = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--work", *map(str, arguments)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        os.set_blocking(self.process.stdout.fileno(), False)

    def end(self) -> None:
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def poll(self, total: Tally) -> bool:
        """Takes what was said; false once all is done."""
        assert self.process
        assert self.process.stdout
        ended = self.process.poll() is not None
        while line := self.process.stdout.readline():
            self._add(json.loads(line), total)
        if ended and self.first >= self.last:
            return False
        if ended or time.monotonic() - self.heard > STUCK_S + BATCH * CPU_S / 4:
            self._dead(total, ended)
        return True

    def _add(self, said: dict[str, Any], total: Tally) -> None:
        self.heard = time.monotonic()
        self.first += said["inputs"]
        total.inputs += said["inputs"]
        total.found.update(said["found"])
        total.slowest = max(total.slowest, tuple(said["slowest"]))
        total.failures += said["failures"]
        total.peak_kib = max(total.peak_kib, said["peak_kib"])

    def _dead(self, total: Tally, ended: bool) -> None:
        assert self.process
        self.process.kill()
        code = self.process.wait()
        place = self.folder / "place"
        at = Path(place.read_text()) / "at" if place.exists() else place
        if not at.exists():
            raise SystemExit(f"a worker ended with {code} before its first input")
        number = int(at.read_text())
        name, data = mutated(read_seeds(self.options.seeds), number, self.options.seed)
        what = f"the process ended with {code}" if ended else f"no answer in {STUCK_S} s"
        total.failures.append(_save(self.options.failures, number, name, data, what, ""))
        total.inputs += number + 1 - self.first  # what it had counted of them is lost
        self.first = number + 1
        self.start()


def main() -> int:
    """Runs the workers, prints and writes the result."""
    options = _options()
    if options.work:
        work(options)
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began, total = time.monotonic(), Tally()
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="cache-fuzz-") as folder:
        options.seeds = options.seeds or _write_seeds(Path(folder) / "seeds")
        shares = _shares(options, Path(folder))
        try:
            _run(shares, total, options.seconds or float("inf"))
        except KeyboardInterrupt:
            sys.stderr.write("stopped: what was seen so far\n")
        finally:
            for share in shares:
                share.end()
    seconds = time.monotonic() - began
    answer = _answer(total, options, seconds)
    print(json.dumps(answer, indent=2))
    if options.output:
        options.output.write_text(json.dumps(answer, indent=2) + "\n")
    return int(bool(total.failures))


def _run(shares: list[Share], total: Tally, seconds: float) -> None:
    began = shown = time.monotonic()
    for share in shares:
        share.start()
    while (waiting := [share for share in shares if share.poll(total)]) and time.monotonic() - began < seconds:
        shares = waiting
        time.sleep(POLL_S)
        if sys.stderr.isatty() and time.monotonic() - shown > 1:
            shown = time.monotonic()
            sys.stderr.write(f"\r{total.inputs:,} inputs, {len(total.failures)} failures")


def _answer(total: Tally, options: argparse.Namespace, seconds: float) -> dict[str, Any]:
    kinds = Counter(f"{one['what'].partition(':')[0]} | {one['at']}" for one in total.failures)
    return {
        "benchmark": "cache_fuzz",
        "goal": {"failures": 0, "inputs": 1_000_000, "peak_mib": 256, "cpu_s_of_one": CPU_S},
        "reached": not total.failures and total.inputs >= 1_000_000,
        "inputs": total.inputs,
        "seed": options.seed,
        "first": options.first,
        "jobs": options.jobs,
        "seconds": round(seconds, 1),
        "inputs_per_s": round(total.inputs / seconds, 1),
        "peak_mib": round(total.peak_kib / 1024, 1),
        "slowest": dict(zip(("cpu_s", "number", "seed_file"), total.slowest, strict=True)),
        "found": dict(total.found.most_common()),
        "failures": len(total.failures),
        "failures_by_kind": dict(kinds.most_common()),
        "failed": total.failures[:50],
    }


def _shares(options: argparse.Namespace, folder: Path) -> list[Share]:
    each = -(-options.inputs // options.jobs)
    shares = []
    for begin in range(options.first, options.first + options.inputs, each):
        place = folder / f"from-{begin}"
        place.mkdir()
        shares.append(Share(options, place, begin, min(begin + each, options.first + options.inputs)))
    return shares


def _write_seeds(folder: Path) -> Path:
    folder.mkdir()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, TESTS / "zoo" / "cache_seeds.py", folder], check=True, env=environment)
    return folder


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time; 0: after --inputs")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--failures", type=Path, default=Path(tempfile.gettempdir()) / "cache-fuzz-failures")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seeds", type=Path, help="folder of seeds; default: written by the libraries that are here")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
