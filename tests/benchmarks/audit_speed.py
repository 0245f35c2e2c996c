"""How long `ups-doctor audit` takes: CPU seconds and the estimate for two free cores, by part, and from the cache.

    python tests/benchmarks/audit_speed.py [PATH]... [--files 1000] [--jobs 2] [--json FILE]
    python tests/benchmarks/audit_speed.py [PATH]... --against CHECKOUT [--pairs 5]

Without PATH it reads torch/distributed, this repository, and more of torch until there are as many files as wanted.
CPU time is what is measured: it holds also on a machine that does other work. `critical_s` is the time on as many
free cores as jobs: that of the parent, plus that of the children shared out. Goal: 1,000 files in under 10 s.

`--against`: this doctor and the one of another checkout (`git worktree add`) read the same files in turn, in one
process each, so that what else the machine does falls on both; and whether they find the same, to the last word.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import diagnostics
from diagnostics.audit.engine import audit
from diagnostics.audit.files import collect
from diagnostics.audit.run import AuditOptions, known_rules, run

PROJECT = Path(__file__).parent.parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    paths = [str(path) for path in given.paths or default_paths()]
    measured = paired(paths, given.files, given.against, given.pairs) if given.against else {
        "rules": len(known_rules()),
        "one_process": apart(paths, given.files, 1),
        "processes": apart(paths, given.files, given.jobs),
        "from_the_cache": from_the_cache(paths),
    }  # fmt: skip
    print(json.dumps(measured, indent=1))
    if given.json:
        given.json.write_text(json.dumps(measured, indent=1) + "\n")


def default_paths() -> list[Path]:
    found = importlib.util.find_spec("torch")
    torch = Path(found.origin).parent if found is not None and found.origin else PROJECT
    return [torch / "distributed", PROJECT, torch]


def paired(paths: list[str], most: int, other: Path, pairs: int) -> dict[str, Any]:
    """Measures this doctor and that of another checkout in turn; a ratio below 1 says that this one takes less."""
    here, there = [], []
    for at in range(pairs):
        for checkout in (PROJECT, other) if at % 2 else (other, PROJECT):
            (here if checkout is PROJECT else there).append(apart(paths, most, 1, checkout.absolute()))
    ratios = [one["parent_cpu_s"] / before["parent_cpu_s"] for one, before in zip(here, there, strict=True)]
    return {
        "files": here[0]["files"],
        "cpu_s": [one["parent_cpu_s"] for one in here],
        "cpu_s_there": [one["parent_cpu_s"] for one in there],
        "median_ratio": round(statistics.median(ratios), 3),
        "largest_memory_mb": here[0]["largest_memory_mb"],
        "largest_memory_mb_there": there[0]["largest_memory_mb"],
        "same_findings": len({one["findings"] for one in (*here, *there)}) == 1,
    }


def apart(paths: list[str], most: int, jobs: int, checkout: Path = PROJECT) -> dict[str, Any]:
    """Measures in a process of its own: nothing is warm, and the largest memory is that of this audit."""
    words = [sys.executable, __file__, "--files", str(most), "--jobs", str(jobs), *paths]
    environment = {**os.environ, "AUDIT_SPEED": "1", "PYTHONPATH": str(checkout)}
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(ended.stdout)
    assert answer["doctor"] == str(checkout), f"measured {answer['doctor']}"
    return answer


def once() -> None:
    _, _, most, _, jobs, *paths = sys.argv
    began = time.monotonic()
    files = [file for path in paths for file in collect([Path(path)]).files]
    files = list({file.shown: file for file in files}.values())[: int(most)]
    rules = {code: rule for code, rule in known_rules().items() if hasattr(rule, "check")}
    result = audit(files, rules, jobs=int(jobs))
    parent, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    alone, shared = parent.ru_utime + parent.ru_stime, children.ru_utime + children.ru_stime
    hits = [
        (one.code, one.severity, one.hit.where, one.hit.title, one.hit.fix, one.hit.steps, one.hit.confidence)
        for one in result.found
    ]
    answer = {
        "doctor": str(Path(diagnostics.__file__).parent.parent),
        "findings": hashlib.sha256(repr(hits).encode()).hexdigest(),
        "files": len(files),
        "lines": sum(len(file.lines) for file in files),
        "found": len(result.found),
        "crashed": len(result.crashed),
        "skipped": len(result.skipped),
        "jobs": int(jobs),
        "parent_cpu_s": round(alone, 2),
        "children_cpu_s": round(shared, 2),
        "critical_s": round(alone + shared / int(jobs), 2),
        "wall_s": round(time.monotonic() - began, 2),
        "largest_memory_mb": round(max(parent.ru_maxrss, children.ru_maxrss) / 1024),
        "load": os.getloadavg()[0],
    }
    print(json.dumps(answer))


def from_the_cache(paths: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        options = AuditOptions(paths=(Path(paths[0]),), cache_folder=Path(folder))
        first = run(options)
        began = time.process_time()
        again = run(options)
        return {
            "files": len(again.files),
            "cpu_s": round(time.process_time() - began, 3),
            "same": [one.hit.where for one in first.found] == [one.hit.where for one in again.found],
        }


if __name__ == "__main__":
    once() if os.environ.get("AUDIT_SPEED") else main()
