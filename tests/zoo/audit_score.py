"""How many faults of the zoo their source shows.   python tests/zoo/audit_score.py [--only NAME...] [--misses]

`ups-doctor audit` reads each program; a fault counts as found where a confirmed or likely finding stands at a line of
its truth.json. On a healthy program any confirmed or likely error or warning is a false alarm: the command ends with 1.
Many faults are in data, machine or timing: no source shows them, so the share is over those classes that it may show.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
from collections import Counter
from pathlib import Path

import zoo_truth

from diagnostics.audit.engine import audit
from diagnostics.audit.files import collect
from diagnostics.audit.found import Found
from diagnostics.audit.run import rules_of_files
from diagnostics.core.findings import Confidence, Severity

# Classes whose cause stands in the program's text, if not always in a form that a reader could be sure of.
VISIBLE = (
    "collective-missing", "collective-mismatch", "p2p-deadlock", "shutdown-hang", "fork-deadlock", "masked-exit",
    "thread-exception", "inplace-under-ddp", "shared-view", "unused-parameters", "static-graph-violation",
    "cuda-in-cache", "pickling-failure", "fd-exhaustion", "nested-launch", "launcher-missing", "env-not-propagated",
    "version-skew", "device-misassigned", "backend-unavailable", "rendezvous-timeout", "rendezvous-hang",
)  # fmt: skip


def main() -> int:
    """Prints one line for each miss and false alarm, then the table; returns the exit code."""
    options = _options()
    if options.programs:
        zoo_truth.look_below(options.programs)
    found_in: Counter[str] = Counter()
    all_of: Counter[str] = Counter()
    alarms: list[str] = []
    healthy = 0
    for name in zoo_truth.names():
        if not any(fnmatch.fnmatch(name, pattern) for pattern in options.only):
            continue
        truth = zoo_truth.load(name)
        found = _loud(truth.folder)
        if truth.healthy:
            healthy += 1
            alarms += [f"false alarm  {name}  {_line(one)}" for one in found if one.severity >= Severity.WARNING]
            continue
        all_of[truth.failure_class] += 1
        right = [one for one in found if f"{one.hit.file.shown}:{one.hit.line}" in truth.lines]
        found_in[truth.failure_class] += bool(right)
        if options.misses and not right:
            print(f"not found    {name}  {truth.failure_class}: {truth.form}")
    print("\n".join(alarms))
    for kind in sorted(all_of, key=lambda one: (one not in VISIBLE, one)):
        print(f"{kind:24} {found_in[kind]:3} of {all_of[kind]:3}{'' if kind in VISIBLE else '   not in the source'}")
    visible = [kind for kind in all_of if kind in VISIBLE]
    shown, count = sum(found_in[kind] for kind in visible), sum(all_of[kind] for kind in visible)
    print(
        f"\nfound {shown} of {count} faults of classes that source may show; "
        f"{len(alarms)} false alarms on {healthy} healthy programs"
    )
    return 1 if alarms else 0


def _loud(folder: Path) -> list[Found]:
    """Returns the confirmed and likely findings in one program."""
    result = audit(collect([folder], below=folder).files, rules_of_files())
    return [one for one in result.found if one.hit.confidence is not Confidence.POSSIBLE]


def _line(one: Found) -> str:
    return f"{one.code} {one.hit.where} {one.hit.confidence}: {one.hit.title}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="+", default=["*"], metavar="NAME", help="these programs; 'hang_*' fits several"
    )
    parser.add_argument("--programs", nargs="+", type=Path, metavar="DIR", help="programs below DIR, not the zoo's")
    parser.add_argument("--misses", action="store_true", help="list the faults that were not found")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
