"""The rules over repositories as people have them, with tests and examples, held against judgements.

    python tests/audit/rules/repositories.py FOLDER [--half A] [--only OWNER/NAME...]

FOLDER/OWNER+NAME/ holds a checkout at the commit that repositories.tsv names. The halves A and B were parted by a hash
of their names before anything was looked at (what was known before is in A): rules were mended with A in view, and B
was audited once, afterwards. Then they were mended with B in view, too, and C, fetched for it, was audited once; so
were D and, after what each had asked for, E, F, G, H and I. repositories_judged.tsv holds every error and warning of
these audits, of A before the mending, with a judgement: true, false, or unclear where it hangs on what the text does
not say.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from diagnostics.audit.engine import audit
from diagnostics.audit.files import collect
from diagnostics.audit.found import Found
from diagnostics.audit.run import rules_of_files
from diagnostics.core.findings import Confidence, Severity

HERE = Path(__file__).parent


def main() -> int:
    """Prints each finding that is not judged true, then the table; returns 1 where one judged false is there."""
    options = _options()
    judged = {tuple(row[1:5]): row[5] for row in _rows("repositories_judged.tsv")}
    counts: Counter[tuple[str, str, str]] = Counter()
    for half, name, _, _ in _rows("repositories.tsv"):
        if half not in options.half or (options.only and name not in options.only):
            continue
        for one in _loud(options.folder / name.replace("/", "+", 1)):
            place, level = f"{one.hit.file.shown}:{one.hit.line}", one.severity.name.lower()
            # A finding that is a warning today may have been an error when it was judged.
            known = [judged.get((name, other, one.code, place)) for other in (level, "error", "warning")]
            verdict = next((said for said in known if said), "not judged")
            counts[half, level, verdict] += 1
            if verdict != "true":
                print(f"{verdict:10} {level:7} {one.code} {name} {place}  {one.hit.title}")
    for (half, level, verdict), number in sorted(counts.items()):
        print(f"{half} {level:7} {verdict:10} {number}")
    return 1 if any(verdict == "false" for _, _, verdict in counts) else 0


def _loud(folder: Path) -> list[Found]:
    found = audit(collect([folder], below=folder).files, rules_of_files()).found
    loud = [one for one in found if one.severity >= Severity.WARNING]
    return [one for one in loud if one.hit.confidence is not Confidence.POSSIBLE]


def _rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (HERE / name).read_text(encoding="utf-8").splitlines()[1:]]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", nargs="+", default=[*"ABCDEFGHI"], choices=[*"ABCDEFGHI"])
    parser.add_argument("--only", nargs="+", default=[], metavar="OWNER/NAME")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
