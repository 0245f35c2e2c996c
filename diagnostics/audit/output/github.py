"""An audit as GitHub's workflow commands, which stand beside the lines of a pull request. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.found import Audit, Found
from diagnostics.audit.output.filter import Filter
from diagnostics.core import redaction
from diagnostics.core.findings import Confidence, Severity

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def lines(audit: Audit, shows: Filter) -> Iterator[str]:
    """Yields one command a finding, one a rule that crashed."""
    yield from (_finding(one) for one in shows.shown(audit))
    for crash in audit.crashed:
        told = _text(f"the rule failed: {crash.reason}")
        yield f"::warning file={_value(crash.path)},title={_value(crash.code)}::{told}"


def _finding(one: Found) -> str:
    hit = one.hit
    # A line of a notebook's cell is no line of its file.
    place = "" if hit.file.cells else f",line={hit.line},col={hit.column}"
    sure = "" if hit.confidence is Confidence.CONFIRMED else f" (this is {hit.confidence}, not proven)"
    body = [hit.title + sure, *(f"{step.place}: {step.text}" for step in hit.steps), f"fix: {hit.fix}"]
    text = "\n".join([*([hit.where] if hit.file.cells else []), *body])
    title = f"{one.code} {one.name}"
    return f"::{LEVELS[one.severity]} file={_value(hit.file.shown)}{place},title={_value(title)}::{_text(text)}"


def _text(text: str) -> str:
    """Returns the text as the runner reads it back; a line break would end the command."""
    shown = "\n".join(redaction.line(line) for line in text.split("\n"))
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
