"""`ups-doctor bisect-model` on models with planted faults: right module, right settings, tries, and its repro.py.

    python tests/benchmarks/bisect_faults.py [NAME...] [--jobs N] [--repros N] [--reports DIR] [--output FILE.json]

Starts the real command for each model of planted/truth.py, and each repro.py that it leaves in a clean process of its
own. Goals: the right module for all but one in twenty, never one where the fault is outside, the minimal set of
settings, a median of tries within 2 log2(modules) + axes, and each repro.py fails in the same way. `planted_truth.py`
shows that the models fail as they are said to.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from planted.truth import HANG, NATIVE, NUMBERS, PLANTED, Planted, module_of

HERE = Path(__file__).parent
DOCTOR = [sys.executable, "-c", "from diagnostics.cli import main; main()", "bisect-model"]
DEADLINE_S = 1200.0
REPRO_DEADLINE_S = 240.0  # scripts that hang end themselves before
AXES = {"world size": "world", "accumulation": "accumulate", "activation checkpointing": "checkpointing"}
NOT_JUDGED = {"steps"}  # how many it takes until a fault shows is a matter of the fault
KINDS = {NATIVE: {"signal"}, HANG: {"hang"}, NUMBERS: {"nonfinite", "ranks-disagree"}}
COUNT = """
import importlib, json, sys
from planted.truth import module_of
for name in sys.argv[1:]:
    case = importlib.import_module(module_of(name))
    make = getattr(case, "healthy", None) or case.failing
    print(json.dumps([name, len(list(make().modules()))]))
"""


def module_counts(names: Sequence[str]) -> dict[str, int]:
    """Returns how many modules each model has."""
    said = subprocess.run([sys.executable, "-c", COUNT, *names], cwd=HERE, capture_output=True, text=True, check=True)
    return dict(json.loads(line) for line in said.stdout.splitlines())


def measure(planted: Planted, modules: int, folder: Path, repros: int) -> dict[str, Any]:
    """Returns what the command found, and what of it is right."""
    case = module_of(planted.name)
    target = [f"{case.replace('.', '/')}.yaml"] if planted.config else [f"{case}:failing", "--inputs", f"{case}:batch"]
    began = time.perf_counter()
    with (folder.with_suffix(".out")).open("w") as said:
        command = [*DOCTOR, *target, *planted.asked, "--report-dir", str(folder), "-v"]
        try:
            code = subprocess.run(
                command, cwd=HERE, stdout=said, stderr=said, check=False, timeout=DEADLINE_S, stdin=subprocess.DEVNULL
            ).returncode
        except subprocess.TimeoutExpired:
            code = None
    seconds = time.perf_counter() - began
    try:
        report = json.loads((folder / "report.json").read_text())
    except (OSError, ValueError):
        return {"name": planted.name, "exit_code": code, "seconds": seconds, "answered": False}
    return {
        "name": planted.name,
        "exit_code": code,
        "seconds": round(seconds, 1),
        "answered": True,
        **judged(planted, modules or len(report["bisection"]["tree"]), report, folder, repros),
    }


def judged(planted: Planted, modules: int, report: Mapping[str, Any], folder: Path, repros: int) -> dict[str, Any]:
    """Returns which parts of a report are right."""
    told = report["bisection"]
    named = [path for path in told["modules"] or [report["module"]] if path]  # "" is the whole model: none below it
    failure = told["failure"] or {}
    needed = {AXES.get(row["axis"], row["axis"]): str(row["value"]) for row in told["needed"]}
    needed = {axis: value for axis, value in needed.items() if axis not in NOT_JUDGED}
    axes = len({row["axis"] for row in told["axes"]})
    limit = 2 * math.log2(modules) + axes
    alike = [repro_fails(folder / "repro.py", failure) for _ in range(repros)] if (folder / "repro.py").exists() else []
    return {
        "modules": modules,
        "module": named,
        "expected_module": list(planted.modules),
        "right_module": sorted(named) == sorted(planted.modules) or (len(named) == 1 and named[0] in planted.also),
        "right_class": right_class(planted, failure),
        "failure": f"{failure['kind']} {failure['detail']}" if failure else "",
        "needed": needed,
        "right_needed": None if planted.needed is None else set(needed) == set(planted.needed),
        "tries": told["tries"],
        "limit": round(limit, 1),
        "repro_failed_alike": f"{sum(alike)} of {len(alike)}",
        "right_repro": None if planted.outside else bool(alike) and all(alike),
        "repro_note": told["repro"]["note"],
        "verdict": told["verdict"],
    }


def right_class(planted: Planted, failure: Mapping[str, Any]) -> bool:
    """Returns whether the failure is of the planted kind."""
    if planted.kind is None or not failure:
        return (planted.kind is None) == (not failure)
    kinds = KINDS.get(planted.kind, {"exception"})
    return failure["kind"] in kinds and planted.detail in ("", failure["detail"])


def repro_fails(script: Path, failure: Mapping[str, Any]) -> bool:
    """Returns whether the script fails in this way, in an empty folder and without our search path."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "UPS_"))}
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, str(script)],
            cwd=folder,
            env=clean,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=REPRO_DEADLINE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return failure.get("kind") == "hang"
    if process.returncode == 0 or not failure:
        return False
    if failure["kind"] == "signal":
        number = signal.Signals[failure["detail"]]
        among = re.search(r"exit codes of the ranks: \[([-\d, ]+)\]", said)
        ended = [process.returncode, *map(int, among[1].split(",") if among else ())]
        return -number in ended or 128 + number in ended
    return failure["kind"] != "exception" or failure["detail"].rpartition(".")[2] in said


def summary(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the goals and whether they are met."""
    answered = [one for one in results if one["answered"]]
    inside = [one for one in results if one.get("expected_module") or not one["answered"]]
    outside = [one for one in answered if not one["expected_module"]]
    found = sum(bool(one.get("right_module")) for one in inside)
    judged_needs = [one for one in answered if one["right_needed"] is not None and one["expected_module"]]
    right_needs = sum(one["right_needed"] for one in judged_needs)
    with_repro = [one for one in answered if one["expected_module"]]
    right_repros = sum(bool(one["right_repro"]) for one in with_repro)
    shares = [one["tries"] / one["limit"] for one in answered if one["expected_module"]]
    median = statistics.median(shares) if shares else math.inf
    false = [one["name"] for one in outside if not one["right_module"]]
    return {
        "models": len(results),
        "right_module": f"{found} of {len(inside)}",
        "false_modules_outside": false,
        "right_needed": f"{right_needs} of {len(judged_needs)}",
        "right_repro": f"{right_repros} of {len(with_repro)}",
        "median_tries_over_limit": round(median, 2),
        "goals_met": found * 20 >= len(inside) * 19 and not false and median <= 1 and right_repros == len(with_repro),
    }


def line(result: Mapping[str, Any]) -> str:
    """Returns one result for people."""
    if not result["answered"]:
        return f"NONE  {result['name']:26} no report, exit code {result['exit_code']}, {result['seconds']:.0f} s"
    rights = [result["right_module"], result["right_class"], result["right_needed"], result["right_repro"]]
    words = zip(("module", "class", "settings", "repro"), rights, strict=True)
    wrong = [word for word, right in words if right is False]
    return (
        f"{'WRONG' if wrong else 'ok   '} {result['name']:26} {result['tries']:3} tries of {result['limit']:.0f}"
        f" {result['seconds']:5.0f} s  {', '.join(result['module']) or '-'}  needs {result['needed'] or 'nothing'}"
        f"{'  wrong: ' + ', '.join(wrong) if wrong else ''}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repros", type=int, default=1, help="how often each repro.py is run")
    parser.add_argument("--reports", type=Path, help="keep what the command writes here")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    known = {one.name: one for one in PLANTED}
    if unknown := set(options.names) - known.keys():
        parser.error(f"no such model: {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    chosen = [known[name] for name in options.names or known]
    counts = module_counts([one.name for one in chosen if not one.config])
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(options.jobs) as pool:
        reports = options.reports or Path(temporary)
        reports.mkdir(parents=True, exist_ok=True)
        began = [
            pool.submit(measure, one, counts.get(one.name, 0), (reports / one.name).absolute(), options.repros)
            for one in chosen
        ]
        for future in began:
            results.append(future.result())
            print(line(results[-1]), flush=True)
            if options.output:
                whole = {"summary": summary(results), "models": results}
                options.output.write_text(json.dumps(whole, indent=1) + "\n")
    print(json.dumps(summary(results)))
    sys.exit(not summary(results)["goals_met"])


if __name__ == "__main__":
    main()
