"""The doctor's score on programs that nobody here wrote, each with one fault put in at a known place.

    python tests/mutants/score.py --n 200 --seed 1 [--jobs 2] [--programs NAME...] [--operators NAME...] [--json FILE]

Programs are fetched from the package index and made small; operators put a fault in at a statement, a rank and a step
that the seed draws. Each mutant runs bare first and has to show what its operator says, else it is counted as not
killed; then it runs under the tool, and report.json is held against what is known. Healthy programs run as well.
`--tool CMD` scores another tool: CMD stands before the program's command, `{report}` in it is the folder in which a
report.json may be; `--tool ""` is the launcher alone, judged on what it prints.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "zoo"))

import mutant_marks
import mutant_programs
import mutant_runs
import mutant_table
import operators
from mutant_draws import Mutant, draw, environment
from mutant_marks import Marks
from mutant_programs import Program

LONGEST_S = 300.0  # a healthy program
CACHE = Path.home() / ".cache" / "ups-doctor-mutants"


def main() -> int:
    """Draws, runs and judges; returns the exit code: 1 where a healthy program was accused or changed."""
    options = _options()
    options.cache.mkdir(parents=True, exist_ok=True)
    programs = [mutant_programs.load(name) for name in _chosen(mutant_programs.names(), options.programs)]
    mutant_programs.install(programs, options.cache)
    folders = {program.name: mutant_programs.prepared(program, options.cache) for program in programs}
    above = Path(tempfile.mkdtemp(prefix="mutants-"))
    try:
        return _score(options, programs, folders, above)
    finally:
        shutil.rmtree(above, ignore_errors=True)


def _score(options: argparse.Namespace, programs: list[Program], folders: Mapping[str, Path], above: Path) -> int:
    python = mutant_programs.python_of(options.cache)
    tool = mutant_runs.DOCTOR if options.tool is None else shlex.split(options.tool)
    healthy_s: dict[str, float] = {}
    alarms: dict[str, str] = {}

    def control(program: Program) -> None:
        job = (folders[program.name], program.command, environment(program), python)
        keep = _kept(options, program.name)
        bare = mutant_runs.run(*job, LONGEST_S, apart=True)
        watched = mutant_runs.run(*job, LONGEST_S, tool, keep, apart=True)
        healthy_s[program.name] = bare.seconds
        alarms[program.name] = mutant_marks.alarm(bare, watched)
        if keep and not alarms[program.name]:
            shutil.rmtree(keep)
        print(
            f"{program.name:30} healthy: {bare.seconds:5.1f} s bare, {alarms[program.name] or 'no alarm'}", flush=True
        )

    def one(mutant: Mutant) -> Marks | Mutant:
        limit_s = 10.0 + 2.0 * healthy_s[mutant.program]
        job = (mutant.folder, mutant.command, environment(mutant.source), python)
        bare = mutant_runs.run(*job, limit_s)
        shown = mutant_marks.shown(mutant, bare)
        if not shown:
            print(f"{mutant.name:50} not killed: bare it ended with {bare.exit_code}", flush=True)
            return mutant
        keep = _kept(options, mutant.name)
        answer = mutant_runs.run(*job, limit_s + mutant_runs.PATIENCE_S, tool, keep)
        marks = mutant_marks.judge(mutant, shown, bare, answer)
        if keep and not marks.wrong:
            shutil.rmtree(keep)
        print(f"{mutant.name:50} {shown:7} {'; '.join(marks.wrong) or 'ok'}"[:230], flush=True)
        return marks

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(control, programs))
        chosen = set(_chosen(list(operators.load()), options.operators))
        families = [pair for pair in operators.by_family() if pair[1].name in chosen]
        mutants = draw(
            options.n, options.seed, {program.name: program for program in programs}, folders, families, above
        )
        found = list(pool.map(one, mutants))
    marks = [one for one in found if isinstance(one, Marks)]
    unkilled = Counter(one.operator for one in found if isinstance(one, Mutant))
    print("\n".join(["", *mutant_table.lines(marks, unkilled), *mutant_table.misses(marks)]))
    wrong = {name: said for name, said in alarms.items() if said}
    print(
        f"\n{len(programs)} programs, alarms or changes on healthy ones: {len(wrong)}; not killed: {unkilled.total()}"
    )
    if options.json:
        options.json.write_text(json.dumps(mutant_table.as_json(marks, unkilled, alarms), indent=1) + "\n")
    return 1 if wrong else 0


def _kept(options: argparse.Namespace, name: str) -> Path | None:
    return options.keep / name if options.keep else None


def _chosen(names: list[str], patterns: list[str] | None) -> list[str]:
    if patterns is None:
        return names
    found = [name for pattern in patterns for name in names if fnmatch.fnmatchcase(name, pattern)]
    if not found:
        raise SystemExit(f"none of {', '.join(patterns)} is among {', '.join(names)}")
    return list(dict.fromkeys(found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=40, help="so many mutants (40)")
    parser.add_argument(
        "--seed", type=int, default=1, help="1 to 99 are for development, 1000 and more for reports (1)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time (1)")
    parser.add_argument("--programs", nargs="+", metavar="NAME", help="these programs alone; '*' is understood")
    parser.add_argument("--operators", nargs="+", metavar="NAME", help="these operators alone")
    parser.add_argument("--tool", metavar="CMD", help="another tool's command than the doctor's")
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR", help=f"packages and environment ({CACHE})")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep program and report of each miss below DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the marks to FILE as well")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
