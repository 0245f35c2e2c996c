"""Which lines git says have changed since a commit, with what is not committed and files that it does not know."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from diagnostics.audit.found import Found
from diagnostics.core.errors import UsageError

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_DEADLINE_S = 60


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """Changed lines by path, relative to the folder that was asked in; `whole` are files that are new."""

    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()

    def concern(self, one: Found) -> bool:
        """Whether a finding, or a place on the way to it, stands on a changed line."""
        places = [(one.hit.file.shown, one.hit.line)]
        for step in one.hit.steps:
            path, _, line = step.place.rpartition(":")
            places += [(path, int(line))] if line.isdigit() else []
        if one.hit.file.cells:  # a notebook's lines are no lines of its code
            return one.hit.file.shown in self.whole or one.hit.file.shown in self.lines
        return any(path in self.whole or line in self.lines.get(path, ()) for path, line in places)


def since(ref: str, folder: Path) -> ChangedLines:
    """Returns what has changed in a folder. Raises UsageError where git cannot say it."""
    if ref.startswith("-"):
        raise UsageError(f"--since {ref}: is no commit", hint="a branch, a tag or a commit: --since origin/main")
    _git(
        folder, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", told=f"--since {ref}: git knows no such commit"
    )
    diff = _git(folder, "diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
                "--relative", "--src-prefix=a/", "--dst-prefix=b/", ref, "--")  # fmt: skip
    new = _git(folder, "ls-files", "--others", "--exclude-standard", "-z")
    return ChangedLines(lines=_parsed(diff), whole=frozenset(one for one in new.split("\0") if one))


def _parsed(diff: str) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    path = ""
    for line in diff.split("\n"):
        hunk = _HUNK.match(line)
        if line.startswith("+++ "):
            path = line[6:].rstrip("\t") if line.startswith("+++ b/") else ""
        elif hunk is not None and path:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            # Where lines were only taken out, the one before them is the one that changed its meaning.
            found.setdefault(path, set()).update(range(first, first + count) if count else (max(first, 1),))
    return {name: frozenset(lines) for name, lines in found.items()}


def _git(folder: Path, *words: str, told: str = "") -> str:
    command = ["git", "-c", "core.quotePath=false", "-C", str(folder), *words]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, errors="surrogateescape", check=False, timeout=_DEADLINE_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"--since asks git, which did not answer: {error}", hint="leave --since out") from error
    if ended.returncode:
        reason = " ".join(ended.stderr.split())[:200]
        raise UsageError(told or f"--since asks git, which refused: {reason}", hint="is this folder a git repository?")
    return ended.stdout
