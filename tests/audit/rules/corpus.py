"""The rules over the source of well-known projects, each finding held against what a person said of it.

    python tests/audit/rules/corpus.py FOLDER [--download] [--unjudged]

FOLDER/<project>/ holds the files of one release; --download puts those of corpus.txt there (they are read, nothing is
installed or run). judged.tsv says of each finding that was looked at whether it is right: rule, confidence, place,
verdict, reason. The table has one line a rule; --unjudged lists what nobody has looked at yet.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from diagnostics.audit.engine import audit
from diagnostics.audit.files import collect
from diagnostics.audit.found import Found
from diagnostics.audit.run import rules_of_files
from diagnostics.core.findings import Confidence

HERE = Path(__file__).parent
Key = tuple[str, str]  # rule, "project/path.py:31"


def main() -> int:
    """Prints the table; returns 1 where a finding judged wrong is still there."""
    options = _options()
    if options.download:
        _download(options.folder)
    judged = _judged()
    rows: Counter[tuple[str, str, str]] = Counter()  # rule, confidence, verdict
    files = 0
    for project in sorted(path for path in options.folder.iterdir() if path.is_dir()):
        count, found = _findings(project)
        files += count
        for place, one in found:
            verdict = judged.get((one.code, place), "not judged")
            rows[one.code, str(one.hit.confidence), verdict] += 1
            if verdict == "wrong" or (options.unjudged and verdict == "not judged"):
                print(f"{verdict}  {one.code} {one.hit.confidence} {place}  {one.hit.title}")
    print(f"{files} files")
    print("rule  confirmed: right wrong open   likely: right wrong open")
    for code in sorted({code for code, _, _ in rows}):
        counts = [rows[code, kind, verdict] for kind in ("confirmed", "likely") for verdict in _VERDICTS]
        print("{}            {:5} {:5} {:4}           {:5} {:5} {:4}".format(code, *counts))
    total = [
        sum(n for (_, kind, v), n in rows.items() if kind == "confirmed" and v == verdict) for verdict in _VERDICTS
    ]
    print("all confirmed: {} right, {} wrong, {} not judged".format(*total))
    return 1 if any(verdict == "wrong" for _, _, verdict in rows) else 0


_VERDICTS = ("right", "wrong", "not judged")


def _findings(project: Path) -> tuple[int, list[tuple[str, Found]]]:
    """Returns how many files a project has, and its confirmed and likely findings with their places."""
    collected = collect([project], below=project.parent)
    result = audit(collected.files, rules_of_files())
    loud = [one for one in result.found if one.hit.confidence is not Confidence.POSSIBLE]
    return len(collected.files), [(_place(one), one) for one in loud]


def _place(found: Found) -> str:
    """Returns "project/path.py:31", without the folder that a source distribution is packed in."""
    shown = re.sub(r"^([^/]+)/\1-\d[\w.]*/", r"\1/", found.hit.file.shown)
    return f"{shown}:{found.hit.line}"


def _judged() -> dict[Key, str]:
    lines = (HERE / "judged.tsv").read_text().splitlines()[1:]
    return {(code, place): verdict for code, _, place, verdict, *_ in (line.split("\t") for line in lines)}


def _download(folder: Path) -> None:
    for requirement in (HERE / "corpus.txt").read_text().split():
        target = folder / requirement.partition("==")[0]
        if target.exists():
            continue
        with tempfile.TemporaryDirectory() as place:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", place, requirement]
            subprocess.run(command, check=True)
            for archive in _archives(Path(place)):
                shutil.unpack_archive(archive, target, "gztar" if archive.name.endswith(".tar.gz") else "zip")


def _archives(place: Path) -> Iterator[Path]:
    yield from (path for path in place.iterdir() if path.name.endswith((".whl", ".tar.gz")))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--download", action="store_true", help="fetch the releases of corpus.txt that are not there")
    parser.add_argument("--unjudged", action="store_true", help="list the findings that nobody has judged")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
