"""Seconds of scan-cache against torch.load(map_location="cpu") of the same files on tmpfs.

    python tests/benchmarks/cache_scan_speed.py [--files 2000] [--small-files 100000] [--repeats 5] [--output FILE.json]
        [--only large --tensors 1000]

Three questions, each answered by a ratio within one run:

    large   --files files of 12 MB (--tensors 24, fp32; 1,000 are a checkpoint): the engine in a running Python, one job
            and all cores, and the whole command as a user types it, against loading all. Goal: 100 times.
    small   --small-files files of one tensor, likewise; only LOADED of them are loaded, and the seconds scaled up
    bytes   as many files of 12 KB, 1.2 MB and 12 MB: seconds a file, which should be the same

Where half of the memory that is free does not hold that many files, there are fewer, and the JSON says so.
Every file holds numbers and a name of its own. Everything runs in child processes, one after the other, on files
that were written a moment ago. The folder is made in /dev/shm (--folder) and removed at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TENSORS = 24
LARGE_BYTES, MIDDLE_BYTES, SMALL_BYTES = 12_000_000, 1_200_000, 12_000
TINY_BYTES = 4096  # one tensor; a file takes two pages of tmpfs more
LOADED = 2000  # small files that torch.load opens
BYTES_FILES = 100
GOAL = 100.0
TMPFS = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it

WRITE = """
import sys, torch
folder, first, count, tensors, size = sys.argv[1], *map(int, sys.argv[2:])
torch.manual_seed(first)
for number in range(first, first + count):
    sample = {f"layer{index}": torch.randn(size // tensors // 4) for index in range(tensors)}
    sample |= {"name": f"trajectory-{number}", "nu": number / 7}
    torch.save(sample, f"{folder}/sample_{number:06d}.pt")
"""
LOAD = """
import os, sys, time, torch
torch.set_num_threads(1)
paths = [entry.path for entry in sorted(os.scandir(sys.argv[1]), key=lambda entry: entry.name)][: int(sys.argv[2])]
began = time.perf_counter()
for path in paths:
    torch.load(path, map_location="cpu")
print(time.perf_counter() - began)
"""
SCAN = """
import sys, time
from pathlib import Path
from diagnostics.cache.scan.engine import scan
from diagnostics.cache.scan.one_file import formats
formats()
began = time.perf_counter()
result = scan([Path(sys.argv[1])], jobs=int(sys.argv[2]))
assert result.recognised and not result.failed, result.findings
print(time.perf_counter() - began)
"""


def python(program: str, *arguments: object) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout


def write(folder: Path, count: int, tensors: int, size: int) -> Path:
    """Returns the folder with so many files of a real torch, written by all cores."""
    folder.mkdir()
    cores = len(os.sched_getaffinity(0))
    each = -(-count // cores)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, *map(str, (folder, first, min(each, count - first), tensors, size))],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        for first in range(0, count, each)
    ]
    codes = [process.wait() for process in processes]
    if any(codes):
        raise SystemExit("a writer failed")
    return folder


def command_seconds(folder: Path, *options: str) -> float:
    """Returns the seconds of the whole command, from its start to its end."""
    began = time.perf_counter()
    program = [sys.executable, "-c", "from diagnostics.cli import main; main()", "scan-cache", *options, str(folder)]
    subprocess.run(program, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def compared(folder: Path, files: int, loaded: int, repeats: int) -> dict[str, Any]:
    """Returns the seconds of scanning and of loading, and how many times faster scanning is."""
    cores = len(os.sched_getaffinity(0))
    python(LOAD, folder, min(loaded, 50))  # torch's own files are then in memory
    ways = {
        "engine_1_job": lambda: float(python(SCAN, folder, 1)),
        "engine_all_cores": lambda: float(python(SCAN, folder, cores)),
        "command_1_job": lambda: command_seconds(folder, "--jobs", "1"),
        "command_all_cores": lambda: command_seconds(folder),
    }
    load_s = [float(python(LOAD, folder, loaded)) * files / loaded]
    seconds = {name: [way() for _ in range(repeats)] for name, way in ways.items()}
    load_s.append(float(python(LOAD, folder, loaded)) * files / loaded)
    return {
        "files": files,
        "loaded": loaded,
        "torch_load_s": [round(one, 3) for one in load_s],
        "scan_s_median": {name: round(statistics.median(all_s), 4) for name, all_s in seconds.items()},
        "scan_s_min": {name: round(min(all_s), 4) for name, all_s in seconds.items()},
        "us_a_file": {name: round(min(all_s) / files * 1e6, 1) for name, all_s in seconds.items()},
        "times_faster": {name: round(min(load_s) / statistics.median(all_s), 1) for name, all_s in seconds.items()},
    }


def by_bytes(folder: Path, files: int, repeats: int) -> dict[str, Any]:
    """Returns microseconds a file for three sizes, taken in turn."""
    sizes = (SMALL_BYTES, MIDDLE_BYTES, LARGE_BYTES)
    places = {size: write(folder / str(size), files, TENSORS, size) for size in sizes}
    best = dict.fromkeys(sizes, float("inf"))
    for _ in range(3 * repeats):
        for size, place in places.items():
            best[size] = min(best[size], float(python(SCAN, place, 1)))
    each = {str(size): round(seconds / files * 1e6, 1) for size, seconds in best.items()}
    return {
        "files": files,
        "us_a_file_by_bytes": each,
        "largest_to_smallest": round(best[sizes[-1]] / best[sizes[0]], 2),
    }


def available_bytes() -> int:
    """Returns what /proc/meminfo calls available."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) << 10


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Returns the three answers; each set of files is removed before the next is written."""
    room = options.bytes or available_bytes() // 2
    room = min(room, os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize)
    files = max(1, min(options.files, room // (LARGE_BYTES + (64 << 10))))
    small = max(1, min(options.small_files, room // (3 * TINY_BYTES)))
    answer: dict[str, Any] = {
        "benchmark": "cache_scan_speed",
        "goal": GOAL,
        "cores": len(os.sched_getaffinity(0)),
        "load_average_1min_at_start": os.getloadavg()[0],
        "scaled_down": {"files": files < options.files, "small_files": small < options.small_files},
        "room_bytes": room,
    }
    answer["tensors"] = options.tensors
    with tempfile.TemporaryDirectory(dir=folder) as place:
        large = write(Path(place) / "large", files, options.tensors, LARGE_BYTES)
        answer["large"] = compared(large, files, files, options.repeats)
    answer["reached"] = {name: times >= GOAL for name, times in answer["large"]["times_faster"].items()}
    if options.only == "large":
        return answer
    with tempfile.TemporaryDirectory(dir=folder) as place:
        tiny = write(Path(place) / "small", small, 1, TINY_BYTES)
        answer["small"] = compared(tiny, small, min(small, LOADED), options.repeats)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        several = max(1, min(BYTES_FILES, room // (LARGE_BYTES + MIDDLE_BYTES + (1 << 20))))
        answer["bytes"] = by_bytes(Path(place), several, options.repeats)
    answer["load_average_1min_at_end"] = os.getloadavg()[0]
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000, help="of 12 MB; fewer where memory is short")
    parser.add_argument("--tensors", type=int, default=TENSORS, help="in a file of 12 MB")
    parser.add_argument("--only", choices=["large"], help="leave the small ones and the comparison of sizes out")
    parser.add_argument("--small-files", type=int, default=100_000)
    parser.add_argument("--bytes", type=int, default=0, help="of tmpfs that may be used; default: half of what is free")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=TMPFS, help="where the files are made, and removed")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="cache-scan-speed-") as folder:
        text = json.dumps(measure(options, Path(folder)), indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
