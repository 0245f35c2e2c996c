"""What an editor shows of the audit of one open file: findings by place, what a finding means, and its fix."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from diagnostics.audit import fixes
from diagnostics.audit.found import Found
from diagnostics.audit.rule import Edit
from diagnostics.audit.run import AuditOptions, known_rules, run
from diagnostics.core.findings import Confidence, Severity
from diagnostics.editor.neighbours import neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFile:
    """One file as it is in the editor, and what is found in it."""

    path: Path
    text: str
    found: tuple[Found, ...]

    def at(self, first: int, last: int) -> Iterator[Found]:
        """Yields the findings on some lines, from 1."""
        yield from (one for one in self.found if first <= one.hit.line <= last)


def audited(path: Path, text: str, root: Path) -> OpenFile:
    """Returns what is found in a file whose text is that of the editor, with the files that belong to it.

    Raises UsageError for wrong settings.
    """
    answer = run(AuditOptions(paths=neighbours(path, root), jobs=1, unsaved={path: text}))
    shown = [one for one in answer.found if one.hit.confidence is not Confidence.POSSIBLE]
    loud = [one for one in shown if one.severity >= Severity.WARNING and Path(one.hit.file.shown).absolute() == path]
    return OpenFile(path=path, text=text, found=tuple(loud))


def edits_of(found: Found) -> tuple[Edit, ...]:
    """Returns the edits that repair a finding, none where --fix would not make them."""
    return found.hit.edits if next(fixes.changes([found]), None) is not None else ()


def meaning(code: str) -> str:
    """Returns the text of `ups-doctor explain CODE`, "" for an unknown code."""
    rule = known_rules().get(code)
    return inspect.cleandoc(rule.__doc__ or "") if rule is not None else ""
