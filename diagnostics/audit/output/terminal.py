"""An audit as terminal lines: each finding at its source line, how it is known, the fix; then a summary. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby

from diagnostics.audit.found import Audit, Crash, Found
from diagnostics.audit.output.filter import Filter, not_shown
from diagnostics.audit.redacted_line import safe_line
from diagnostics.core import redaction
from diagnostics.core.findings import Confidence, Severity
from diagnostics.report.terminal import COLOURS, INDENT, MARKS

FEW = 5  # so many unread files, and crashes of one rule, are named without --verbose
NARROWEST = 40
CUT = "..."
NOT_AUDITED = "; nothing in it was audited"
BEFORE_EXPLAIN = "   "


class Lines:
    """How an audit is shown: how wide (0: lines are as long as they are), in colour or not, with all details or not."""

    def __init__(self, *, width: int = 0, colour: bool = False, verbose: bool = False) -> None:
        self.width = max(width, NARROWEST) if width else 0
        self.colour = colour
        self.verbose = verbose

    def of(self, audit: Audit, shows: Filter) -> Iterator[str]:
        """Yields every line."""
        shown = shows.shown(audit)
        for one in shown:
            yield from self.finding(one)
            yield ""
        aside = [*self._skipped(audit), *self._crashes(audit)]
        yield from aside
        if aside:
            yield ""
        yield from self.summary(audit, shows)

    def finding(self, one: Found) -> Iterator[str]:
        """Yields the lines of one finding."""
        hit = one.hit
        yield self._painted(redaction.line(hit.where), "1")
        yield from self._source(one)
        mark = MARKS[one.severity]
        head = f"{mark:<6}{one.code}  "
        first, *rest = self._wrapped(redaction.line(hit.title), len(head))
        yield self._painted(mark, COLOURS[mark]) + head[len(mark) :] + first
        yield from (INDENT + line for line in rest)
        if hit.confidence is not Confidence.CONFIRMED:
            yield f"{INDENT}this is {hit.confidence}, not proven"
        for step in hit.steps:
            yield from self._hanging("", f"{step.place}: {step.text}")
        yield from self._hanging("fix:  ", hit.fix)

    def _source(self, one: Found) -> Iterator[str]:
        """The line with a caret below; both cut where the line is too long."""
        line = one.hit.file.line(one.hit.line).rstrip()
        if not line.strip():
            return
        number = one.hit.where.rsplit(":", 2)[1]
        safe = redaction.line(safe_line(one.hit.file, one.hit.line).rstrip())
        before = redaction.line(line[: one.hit.column - 1])
        text, at = safe, len(before)
        room = (self.width or 160) - len(number) - 7
        if len(text) > room:
            start = max(0, min(at - room // 2, len(text) - room + len(CUT)))
            lead = CUT if start else ""
            text, at = (
                (lead + text[start:])[: room - len(CUT)] + CUT * (start + room <= len(text)),
                at - start + len(lead),
            )
        yield f"   {number} | {text}"
        if safe.startswith(before):
            yield f"   {' ' * len(number)} | {' ' * at}{self._painted('^', '1;31')}"

    def _hanging(self, label: str, text: str) -> Iterator[str]:
        """Text below the title, its further lines two deeper than its first."""
        first, *rest = self._wrapped(redaction.line(" ".join(text.split())), len(INDENT) + (len(label) or 2))
        yield f"{INDENT}{label}{first}"
        yield from (f"{INDENT}{' ' * (len(label) or 2)}{line}" for line in rest)

    def _wrapped(self, text: str, used: int) -> list[str]:
        if not self.width:
            return [text]
        room = max(self.width - used, NARROWEST // 2)
        return textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]

    def _skipped(self, audit: Audit) -> Iterator[str]:
        few = audit.skipped if self.verbose else audit.skipped[:FEW]
        for one in few:
            yield from self._aside("skip", "", f"{one.path}: {one.problem}{NOT_AUDITED * one.named}")
        if len(few) < len(audit.skipped):
            yield f"{INDENT}and {len(audit.skipped) - len(few)} more files (-v names them)"

    def _crashes(self, audit: Audit) -> Iterator[str]:
        for code, several in groupby(sorted(audit.crashed, key=lambda one: one.code), key=lambda one: one.code):
            crashes = list(several)
            few = crashes if self.verbose else crashes[:FEW]
            for one in few:
                yield from self._crash(code, one)
            if len(few) < len(crashes):
                yield f"{INDENT}and on {len(crashes) - len(few)} more files (-v names them)"

    def _crash(self, code: str, one: Crash) -> Iterator[str]:
        yield from self._aside("CRASH?", code, f"{one.path}: the rule failed: {one.reason}")
        if self.verbose:
            yield from (f"{INDENT}{redaction.line(line)}" for line in one.detail.splitlines())

    def _aside(self, mark: str, code: str, text: str) -> Iterator[str]:
        head = f"{mark:<6}{code:<4}  " if len(mark) < 6 else f"{mark} {code}  "
        first, *rest = self._wrapped(redaction.line(text), len(head))
        yield self._painted(mark, COLOURS[mark]) + head[len(mark) :] + first
        yield from (INDENT + line for line in rest)

    def summary(self, audit: Audit, shows: Filter) -> Iterator[str]:
        """Yields '214 files: 3 errors (1.4 s)', what is not shown, and which command explains or repairs."""
        line = summary_line(audit, shows)
        yield from line.split(BEFORE_EXPLAIN) if self.width and len(line) > self.width else [line]
        hidden = list(not_shown(audit, shows))
        if hidden:
            yield f"not shown: {', '.join(hidden)}"
        fixable = sum(bool(one.hit.edits) for one in shows.shown(audit))
        if fixable:
            yield f"{fixable} can be fixed: --diff shows how, --fix does it"

    def _painted(self, text: str, colour: str) -> str:
        return f"\033[{colour}m{text}\033[0m" if self.colour else text


def summary_line(audit: Audit, shows: Filter) -> str:
    """Returns '214 files: 3 errors, 1 warning (1.4 s)   explain: ups-doctor explain A101'."""
    shown = shows.shown(audit)
    count = len(audit.files)
    files = f"{count} file{'s' * (count != 1)}"
    found = [
        f"{number} {word}{'s' * (number != 1)}"
        for severity, word in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note"))
        if (number := sum(one.severity is severity for one in shown))
    ]
    undecided = [f"{len(audit.crashed)} undecided"] if audit.crashed else []
    unread = sum(one.named for one in audit.skipped)
    skipped = [f"{unread} not audited"] if unread else []
    skipped += [f"{len(audit.skipped) - unread} skipped"] if len(audit.skipped) > unread else []
    seconds = f"({audit.seconds:.1f} s)"
    if not found and not undecided:
        return ", ".join([files, "nothing found" if count else "nothing to read", *skipped]) + f" {seconds}"
    counted = f"{files}: {', '.join([*found, *undecided, *skipped])} {seconds}"
    return f"{counted}{BEFORE_EXPLAIN}explain: ups-doctor explain {_worst(shown)}" if shown else counted


def _worst(shown: tuple[Found, ...]) -> str:
    return max(shown, key=lambda one: one.severity).code
