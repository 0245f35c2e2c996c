"""An audit as SARIF 2.1.0, which code-scanning pages and editors read. Pure."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from types import ModuleType
from typing import Any
from urllib.parse import quote

from diagnostics.audit.fingerprint import fingerprint
from diagnostics.audit.found import Audit, Found
from diagnostics.audit.output.filter import Filter
from diagnostics.audit.redacted_line import safe_line
from diagnostics.audit.rule import ExplanationStep
from diagnostics.core import redaction
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.project_file import ProjectFile

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
# How GitHub sorts: of ten findings so many are right.
PRECISION = {Confidence.CONFIRMED: "very-high", Confidence.LIKELY: "high", Confidence.POSSIBLE: "low"}


def sarif_json(audit: Audit, shows: Filter, rules: Mapping[str, ModuleType], *, version: str, exit_code: int) -> str:
    """Returns one run: the rules with their documentation, what they found, and what could not be decided."""
    asked = {code: rule for code, rule in rules.items() if code in audit.asked or not hasattr(rule, "check")}
    places = _Places(audit)
    run = {
        "tool": {"driver": {"name": "ups-doctor", "version": version, "rules": [_rule(one) for one in asked.values()]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not audit.crashed,
                "exitCode": exit_code,
                "toolExecutionNotifications": list(_notifications(audit)),
            }
        ],
        "results": list(_results(shows.shown(audit), list(asked), places)),
    }
    body = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(redaction.json_value(body), indent=1)


def _rule(rule: ModuleType) -> dict[str, Any]:
    text = inspect.cleandoc(rule.__doc__ or rule.NAME)
    first = text.splitlines()[0]
    return {
        "id": rule.CODE,
        "name": rule.NAME,
        "shortDescription": {"text": first},
        "fullDescription": {"text": first},
        "help": {"text": text},
        "defaultConfiguration": {"level": LEVELS[rule.SEVERITY]},
    }


def _results(found: tuple[Found, ...], codes: list[str], places: _Places) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for one in found:
        hit = one.hit
        mark = fingerprint(one)
        seen[mark] += 1
        result: dict[str, Any] = {
            "ruleId": one.code,
            "ruleIndex": codes.index(one.code),
            "level": LEVELS[one.severity],
            "message": {"text": f"{hit.title}\nfix: {hit.fix}"},
            "locations": [_location(hit.file, hit.line, hit.column)],
            "partialFingerprints": {"codePathLine/v1": f"{mark}:{seen[mark]}"},
            "properties": {"confidence": str(hit.confidence), "precision": PRECISION[hit.confidence]},
        }
        if hit.steps:
            flow = [{"location": places.of(step)} for step in hit.steps]
            result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
            result["relatedLocations"] = [{"id": number, **places.of(step)} for number, step in enumerate(hit.steps, 1)]
        yield result


def _location(file: ProjectFile, line: int, column: int = 0) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri(file.shown)}}
    if file.cells:  # a line of a cell is no line of the file
        return {"physicalLocation": physical, "logicalLocations": [{"name": file.place(line), "kind": "member"}]}
    text = safe_line(file, line)
    region: dict[str, Any] = {"startLine": line}
    if column:
        region |= {"startColumn": column, "snippet": {"text": text}}
    return {"physicalLocation": {**physical, "region": region}}


class _Places:
    """Finds the file and line of a step, which names them in one text."""

    def __init__(self, audit: Audit) -> None:
        self.files = {file.shown: file for file in audit.files}

    def of(self, step: ExplanationStep) -> dict[str, Any]:
        """Returns a step as a location with a message."""
        path, _, line = step.place.rpartition(":")
        message = {"message": {"text": step.text}}
        if path in self.files and line.isdigit() and int(line):
            return {**_location(self.files[path], int(line)), **message}
        return {"logicalLocations": [{"name": step.place}], **message}


def _notifications(audit: Audit) -> Iterator[dict[str, Any]]:
    for crash in audit.crashed:
        yield _notification("error", crash.path, f"{crash.code}: the rule failed: {crash.reason}")
    for one in audit.skipped:
        yield _notification("warning", one.path, f"skipped: {one.problem}")


def _notification(level: str, path: str, text: str) -> dict[str, Any]:
    where = [{"physicalLocation": {"artifactLocation": {"uri": uri(path)}}}]
    return {"level": level, "message": {"text": text}, "locations": where}


def uri(path: str) -> str:
    """Returns a path as a URI: relative as it is, absolute with its scheme."""
    shown = quote(PurePath(path).as_posix(), errors="surrogateescape")
    return f"file://{shown}" if shown.startswith("/") else shown
