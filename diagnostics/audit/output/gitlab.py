"""An audit as GitLab's Code Quality report, which stands beside the lines of a merge request. Pure."""

from __future__ import annotations

import json
from collections import Counter

from diagnostics.audit.fingerprint import fingerprint
from diagnostics.audit.found import Audit
from diagnostics.audit.output.filter import Filter
from diagnostics.core import redaction
from diagnostics.core.findings import Confidence, Severity

LEVELS = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def gitlab_json(audit: Audit, shows: Filter) -> str:
    """Returns the list of issues that the `codequality` report of a GitLab job holds."""
    seen: Counter[str] = Counter()
    issues = []
    for one in shows.shown(audit):
        mark = fingerprint(one)
        seen[mark] += 1
        sure = "" if one.hit.confidence is Confidence.CONFIRMED else f" (this is {one.hit.confidence}, not proven)"
        issues.append(
            {
                "description": f"{one.code} {one.hit.title}{sure}; fix: {one.hit.fix}",
                "check_name": one.name,
                "fingerprint": f"{mark}{seen[mark]:x}",
                "severity": LEVELS[one.severity],
                # A line of a notebook's cell is no line of its file.
                "location": {
                    "path": one.hit.file.shown,
                    "lines": {"begin": 1 if one.hit.file.cells else one.hit.line},
                },
            }
        )
    return json.dumps(redaction.json_value(issues), indent=1)
