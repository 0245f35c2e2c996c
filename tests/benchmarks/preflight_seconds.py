"""Seconds of `ups-doctor preflight CONFIG` by stage, and until its first answer, on 2 ranks: minima and medians.

    python tests/benchmarks/preflight_seconds.py [CONFIG] [--set K=V]... [--repeats 3] [--output FILE.json]

Makes CONFIG's data in a folder of its own. Starts the real command each time; for the first answer with stage
host alone, which comes first. A run in which a check found an error ends the benchmark: its seconds mean
nothing. Goals: all CPU stages under 15 s, a first line in under 2 s.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

UPS = [sys.executable, "-c", "from ups.cli import main; main()"]
DOCTOR = [sys.executable, "-c", "from diagnostics.cli import main; main()", "preflight"]


def first_line_seconds(arguments: list[str]) -> float:
    """Returns how long a user waits for the first finished check."""
    began = time.perf_counter()
    with subprocess.Popen(
        [*DOCTOR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seconds = time.perf_counter() - began
        process.stdout.read()
    return seconds


def one(arguments: list[str]) -> dict[str, Any]:
    """Returns wall seconds, seconds by stage, and what did not pass, of one run."""
    began, cpu = time.perf_counter(), cpu_seconds()
    done = subprocess.run([*DOCTOR, *arguments, "--json"], capture_output=True, text=True, check=False)
    wall = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"preflight ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    verdict = json.loads(done.stdout)
    stages: dict[str, float] = {}
    for outcome in verdict["outcomes"]:
        stages[outcome["stage"]] = stages.get(outcome["stage"], 0.0) + outcome["seconds"]
    other = [f"{outcome['code']} {outcome['status']}" for outcome in verdict["outcomes"] if outcome["status"] != "done"]
    return {
        "wall_s": wall,
        "cpu_s": cpu_seconds() - cpu,
        "stages": stages,
        "not_done": other,
        "exit_code": done.returncode,
    }


def cpu_seconds() -> float:
    """Returns what all children that ended so far, and theirs, used of the cores: it says more on a busy machine."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def extent(values: Iterable[float]) -> dict[str, float]:
    """Returns the minimum and the median."""
    values = list(values)
    return {"min": min(values), "median": statistics.median(values)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", type=Path, nargs="?", default=Path("configs/quickstart.yaml"))
    parser.add_argument("--set", dest="overrides", action="append", default=[])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    sets = [word for override in options.overrides for word in ("--set", override)]
    with tempfile.TemporaryDirectory() as folder:
        sets += ["--set", f"data.root={folder}/data", "--set", f"output.dir={folder}/run"]
        subprocess.run([*UPS, "data", "generate", "--config", str(options.config), *sets], check=True, stdout=2)
        arguments = [str(options.config), *sets, "--nproc", "2", "--report-dir", folder]
        load = os.getloadavg()[0]
        runs = [one(arguments) for _ in range(options.repeats)]
        first = [first_line_seconds([*arguments, "--stages", "host"]) for _ in range(options.repeats)]
    stages = {name: [run["stages"].get(name, 0.0) for run in runs] for name in runs[0]["stages"]}
    answer = {
        "benchmark": "preflight_seconds",
        "cores": os.cpu_count(),
        "load_average_1min_before": load,  # above 0.5 the seconds are those of a machine that others use, too
        "wall_s": extent(run["wall_s"] for run in runs),
        "cpu_s": extent(run["cpu_s"] for run in runs),
        "first_answer_s": extent(first),
        "stage_s": {name: extent(seconds) for name, seconds in stages.items()},
        "not_done": runs[0]["not_done"],
        "exit_codes": [run["exit_code"] for run in runs],
        "goals": {"wall_s": 15.0, "first_answer_s": 2.0},
    }
    text = json.dumps(answer, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
