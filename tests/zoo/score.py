"""The score of the doctor over the zoo.   python tests/zoo/score.py [--only NAME...] [--repeat N] [--json FILE]

Each program is run by itself and under `ups-doctor run`, in a copy of its folder; the report is held against the
program's truth.json. Ends with 1 where a goal is missed, a healthy program is accused, or a place is named
that is never one: a line of the doctor's, a launcher's or the interpreter's, or where a signature raised. A program
that needs a package which this Python lacks is skipped; --python runs the programs with another one.
"""

from __future__ import annotations

import argparse
import fnmatch
import itertools
import json
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import zoo_table
import zoo_truth
from zoo_judgement import Judgement, judge
from zoo_runs import run_bare, run_watched

GOAL = 0.95
GOAL_SECONDS = {"death": 3.0, "proved hang": 5.0, "other hang": 20.0}  # medians, to the report


def main() -> int:
    """Runs the zoo, prints the score; returns the exit code."""
    options = _options()
    if options.programs:
        zoo_truth.look_below(options.programs)
    truths = [zoo_truth.load(name) for name in _chosen(options.only)]
    if options.faulty:
        truths = [truth for truth in truths if not truth.healthy]
    if options.healthy:
        truths = [truth for truth in truths if truth.healthy]
    if options.quick:
        truths = _one_of_each(truths)
    skipped = {truth.name: lacking for truth in truths if (lacking := zoo_truth.lacking(truth, options.python))}

    def one(truth: zoo_truth.Truth, run: int) -> Judgement:
        bare = None if options.no_bare or run > 1 else run_bare(truth, options.python)
        keep = options.keep and options.keep / (truth.name if run == 1 else f"{truth.name}#{run}")
        verdict = judge(truth, run_watched(truth, keep, options.python), bare, run)
        print(zoo_table.row(verdict), flush=True)
        return verdict

    print(zoo_table.HEAD)
    runs = [(truth, run) for run in range(1, options.repeat + 1) for truth in truths if truth.name not in skipped]
    with ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(one, *zip(*runs, strict=True)))
    print("\n".join(["", *zoo_table.totals(verdicts), *zoo_table.misses(verdicts)]))
    for name, lacking in skipped.items():
        print(f"skipped {name}: this machine lacks {lacking}")
    if options.json:
        options.json.write_text(json.dumps(zoo_table.as_json(verdicts, skipped), indent=1) + "\n")
    return 1 if _missed(verdicts) else 0


def _chosen(patterns: list[str] | None) -> list[str]:
    """Returns the names that fit; ends with one sentence where a pattern fits none."""
    if patterns is None:
        return zoo_truth.names()
    names = [fnmatch.filter(zoo_truth.names(), pattern) for pattern in patterns]
    unknown = [pattern for pattern, fitting in zip(patterns, names, strict=True) if not fitting]
    if unknown:
        sys.exit(f"no program of the zoo is called {', '.join(unknown)}: see the folders below tests/zoo/jobs")
    return list(dict.fromkeys(itertools.chain.from_iterable(names)))


def _one_of_each(truths: list[zoo_truth.Truth]) -> list[zoo_truth.Truth]:
    """Returns the first program of each class that needs nothing, and as many healthy ones as a sixth of them."""
    plain = [truth for truth in truths if not truth.needs]
    first = {truth.failure_class: truth for truth in reversed(plain) if not truth.healthy}
    healthy = [truth for truth in plain if truth.healthy]
    return [*first.values(), *healthy[: max(1, len(first) // 6)]]


def _missed(verdicts: list[Judgement]) -> list[str]:
    """Returns the goals that were not reached."""
    shares = zoo_table.shares(verdicts)
    missed = [f"{what} {share:.0%}" for what, share in shares.items() if share is not None and share < GOAL]
    missed += [f"{verdict.label} names {', '.join(verdict.foreign)}" for verdict in verdicts if verdict.foreign]
    missed += [f"{verdict.label}: {one}" for verdict in verdicts for one in verdict.broken]
    missed += [f"false alarm on {verdict.label}" for verdict in verdicts if verdict.false_alarm]
    for what, seconds in zoo_table.seconds_to_report(verdicts).items():
        if seconds and statistics.median(seconds) > GOAL_SECONDS[what]:
            missed.append(f"{statistics.median(seconds):.1f} s from {what} to report")
    for goal in missed:
        print(f"goal missed: {goal}")
    return missed


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these programs; 'calm_*' fits several")
    parser.add_argument("--programs", nargs="+", type=Path, metavar="DIR", help="programs below DIR, not the zoo's")
    parser.add_argument("--faulty", action="store_true", help="the faulty ones alone")
    parser.add_argument("--healthy", action="store_true", help="the healthy ones alone")
    parser.add_argument("--quick", action="store_true", help="one program of each class, and some healthy ones")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="run each program so often (1)")
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time (1)")
    parser.add_argument("--python", default=sys.executable, metavar="PATH", help="the Python that runs the programs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the marks to FILE as well")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep each report and all output below DIR")
    parser.add_argument("--no-bare", action="store_true", help="do not run them without the doctor as well")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
