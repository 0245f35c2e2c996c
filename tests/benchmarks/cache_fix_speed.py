"""Seconds of fix-cache against torch.load + torch.save of the same files, and against cp where bytes are copied.

    python tests/benchmarks/cache_fix_speed.py [--files 200] [--tensors 24] [--repeats 3] [--folder /dev/shm]
        [--output FILE.json]

Files of 12 MB (24 tensors, fp32) that carry tags of cuda:1, written by torch. Two ways of repair:

    append   the whole command, and the engine in a running Python, against a loop of torch.load(map_location="cpu",
             weights_only=True), torch.save under a temporary name, fsync and rename. Goal: 10 times.
    copy     the same files with a hard link each, so that every one must be copied, against `cp` of all into
             another folder and `sync` of them (repairs are synced too). Goal: no slower.

Each measurement takes a fresh copy of the tagged files, made outside the clock; the ways take turns. Fewer files
where memory does not hold four times their bytes: the JSON says so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TENSORS, FILE_BYTES = 24, 12_000_000
GOAL_APPEND, GOAL_COPY = 10.0, 1.0

WRITE = """
import sys, torch
folder, count, tensors, size = sys.argv[1], *map(int, sys.argv[2:])
torch.serialization.location_tag = lambda storage: "cuda:" + str(1)
for number in range(count):
    torch.manual_seed(number)
    sample = {f"layer{index}": torch.randn(size // tensors // 4) for index in range(tensors)}
    torch.save(sample, f"{folder}/sample_{number:06d}.pt")
"""
LOAD_AND_SAVE = """
import os, sys, time, torch
torch.set_num_threads(1)
paths = [entry.path for entry in sorted(os.scandir(sys.argv[1]), key=lambda entry: entry.name)]
began = time.perf_counter()
for path in paths:
    torch.save(torch.load(path, map_location="cpu", weights_only=True), path + ".new")
    with open(path + ".new", "rb") as file:
        os.fsync(file.fileno())
    os.replace(path + ".new", path)
print(time.perf_counter() - began)
"""
ENGINE = """
import sys, time
from pathlib import Path
from diagnostics.cache.repair.engine import RepairOptions, carry_out, prepare
began = time.perf_counter()
result = carry_out(prepare([Path(sys.argv[1])], RepairOptions()), RepairOptions())
assert result.exit_code == 0, result.left
print(time.perf_counter() - began)
"""


def python(program: str, *arguments: object) -> float:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return float(subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout or 0)


def command(folder: Path) -> float:
    """Returns the seconds of the command as a user types it, report and final scan included."""
    program = [sys.executable, "-c", "from diagnostics.cli import main; main()", "fix-cache", "--yes"]
    with tempfile.TemporaryDirectory() as reports:
        began = time.perf_counter()
        subprocess.run([*program, "--report-dir", reports, str(folder)], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began


def cp(folder: Path) -> float:
    """Returns the seconds of cp and sync of all files into another folder."""
    other = folder.with_name("cp-target")
    began = time.perf_counter()
    subprocess.run(["cp", "-r", str(folder), str(other)], check=True)
    subprocess.run(["sync", *map(str, other.iterdir())], check=True)
    seconds = time.perf_counter() - began
    shutil.rmtree(other)
    return seconds


def timed(master: Path, way: Callable[[Path], float], *, linked: bool) -> float:
    """Returns the seconds of one way over a fresh copy of the tagged files."""
    with tempfile.TemporaryDirectory(dir=master.parent) as place:
        folder = Path(place) / "cache"
        shutil.copytree(master, folder)
        if linked:
            names = Path(place) / "other-names"
            names.mkdir()
            for path in folder.iterdir():
                (names / path.name).hardlink_to(path)
        return way(folder)


def compared(master: Path, ways: dict[str, Callable[[Path], float]], repeats: int, *, linked: bool) -> dict[str, Any]:
    """Returns the seconds of each way and how many times faster than the last of them each is."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            seconds[name].append(timed(master, way, linked=linked))
    median = {name: statistics.median(values) for name, values in seconds.items()}
    *ours, other = ways
    return {
        "seconds": {name: [round(value, 3) for value in values] for name, values in seconds.items()},
        f"times_faster_than_{other}": {name: round(median[other] / median[name], 2) for name in ours},
    }


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Returns both comparisons."""
    room = min(available_bytes() // 2, shutil.disk_usage(folder).free) // 4
    files = max(1, min(options.files, room // FILE_BYTES))
    master = folder / "tagged"
    master.mkdir()
    python(WRITE, master, files, options.tensors, FILE_BYTES)
    ours: dict[str, Callable[[Path], float]] = {"command": command, "engine": lambda cache: python(ENGINE, cache)}
    load_and_save = {"load_and_save": lambda cache: python(LOAD_AND_SAVE, cache)}
    append = compared(master, {**ours, **load_and_save}, options.repeats, linked=False)
    copy = compared(master, {**ours, "cp": cp}, options.repeats, linked=True)
    return {
        "benchmark": "cache_fix_speed",
        "folder": str(options.folder),
        "files": files,
        "tensors": options.tensors,
        "scaled_down": files < options.files,
        "cores": len(os.sched_getaffinity(0)),
        "load_average_1min": os.getloadavg()[0],
        "append": append,
        "copy": copy,
        "reached": {
            "append": min(append["times_faster_than_load_and_save"].values()) >= GOAL_APPEND,
            "copy": min(copy["times_faster_than_cp"].values()) >= GOAL_COPY,
        },
    }


def available_bytes() -> int:
    """Returns what /proc/meminfo calls available."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) << 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=200, help="of 12 MB; fewer where there is no room")
    parser.add_argument("--tensors", type=int, default=TENSORS, help="in a file")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="where files are made, and removed")  # noqa: S108
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="cache-fix-speed-") as folder:
        text = json.dumps(measure(options, Path(folder)), indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
