"""Hits as plain JSON and back: how workers answer, and what the cache keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diagnostics.audit.found import Crash, Found
from diagnostics.audit.rule import Edit, ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.project_file import ProjectFile


def found_json(one: Found) -> dict[str, Any]:
    """Returns a hit as JSON."""
    hit = one.hit
    return {
        "code": one.code,
        "name": one.name,
        "severity": int(one.severity),
        "path": hit.file.shown,
        "line": hit.line,
        "column": hit.column,
        "title": hit.title,
        "fix": hit.fix,
        "confidence": str(hit.confidence),
        "steps": [[step.place, step.text] for step in hit.steps],
        "edits": [[edit.start, edit.end, edit.text] for edit in hit.edits],
    }


def found_from(body: Any, files: Mapping[str, ProjectFile]) -> Found:
    """Returns the hit again. Raises KeyError, TypeError or ValueError where it is none."""
    hit = Violation(
        file=files[body["path"]],
        line=_whole(body["line"]),
        column=_whole(body["column"]),
        title=_text(body["title"]),
        fix=_text(body["fix"]),
        confidence=Confidence(body["confidence"]),
        steps=tuple(ExplanationStep(place=_text(place), text=_text(text)) for place, text in body["steps"]),
        edits=tuple(Edit(start=_place(start), end=_place(end), text=_text(text)) for start, end, text in body["edits"]),
    )
    return Found(code=_text(body["code"]), name=_text(body["name"]), severity=Severity(body["severity"]), hit=hit)


def crash_json(crash: Crash) -> list[str]:
    """Returns a crash as JSON."""
    return [crash.code, crash.path, crash.reason, crash.detail]


def crash_from(body: Any) -> Crash:
    """Returns the crash again."""
    code, path, reason, detail = map(_text, body)
    return Crash(code=code, path=path, reason=reason, detail=detail)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"a whole number was expected, got {value!r}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, got {value!r}")
    return value


def _place(value: Any) -> tuple[int, int]:
    line, column = value
    return _whole(line), _whole(column)
