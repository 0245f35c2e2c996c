"""An audit as one JSON object. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from diagnostics.audit.found import Audit, Found
from diagnostics.audit.output.checklist import checklist
from diagnostics.audit.output.filter import Filter
from diagnostics.audit.redacted_line import safe_line
from diagnostics.core import redaction
from diagnostics.core.findings import to_json


def audit_json(audit: Audit, shows: Filter, rules: Mapping[str, ModuleType], *, exit_code: int) -> str:
    """Returns the findings that are shown with everything known about them, secrets hidden."""
    body = {
        "schema": 1,
        "exit_code": exit_code,
        "findings": [_finding(one) for one in shows.shown(audit)],
        "not_shown": shows.hidden(audit),
        "files": {"read": len(audit.files), **Counter(str(file.kind) for file in audit.files)},
        "skipped": to_json(audit.skipped),
        "crashed": to_json(audit.crashed),
        "checklist": [to_json(line) for line in checklist(audit, rules)],
        "seconds": round(audit.seconds, 3),
    }
    return json.dumps(redaction.json_value(body), indent=1)


def _finding(one: Found) -> dict[str, Any]:
    hit, finding = one.hit, to_json(one.finding)
    return {
        **{name: finding[name] for name in ("code", "name", "severity", "confidence", "title", "where")},
        "path": hit.file.shown,
        "line": hit.line,
        "column": hit.column,
        "source": safe_line(hit.file, hit.line),
        "steps": to_json(hit.steps),
        "fix": hit.fix,
        "edits": to_json(hit.edits),
    }
