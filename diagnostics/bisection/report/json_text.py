"""report.json of a bisection: that of a watched run, schema 1, and the key "bisection"."""

from __future__ import annotations

import json
from typing import Any

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.found import Bisection, SettingStatus
from diagnostics.bisection.report.words import headline
from diagnostics.bisection.search.failing_case import way_of
from diagnostics.core import redaction
from diagnostics.core.findings import to_json
from diagnostics.report.run_report import RunReport

SCHEMA = 1


def json_text(report: RunReport, found: Bisection) -> str:
    """Returns report.json, secrets hidden."""
    body = {"schema": SCHEMA, "kind": "bisect-model", **to_json(report), "bisection": bisection_json(found)}
    return json.dumps(redaction.json_value(body), indent=1) + "\n"


def bisection_json(found: Bisection) -> dict[str, Any]:
    """Returns what the tries gave, as plain values."""
    failure = found.failure
    return {
        "target": found.name,
        "verdict": headline(found),
        "modules": list(found.modules),
        "relation": found.relation,
        "within": found.within,
        "module_class": found.module_class,
        "module_place": found.module_place,
        "heals": found.heals,
        "fails_alone": found.fails_alone,
        "outside": found.outside,
        "undecided": found.undecided,
        "failed": found.failed,
        "runs": found.runs,
        "failure": None if failure is None else {**to_json(failure), "kind": failure.kind.value},
        "needed": [
            {"axis": row.axis, "value": row.value} for row in found.axes if row.standing is SettingStatus.NEEDED
        ],
        "not_needed": _axes(found, SettingStatus.NOT_NEEDED),
        "no_effect": _axes(found, SettingStatus.NO_EFFECT),
        "heals_with": [
            {"axis": row.axis, "value": row.other} for row in found.axes if row.standing is SettingStatus.HEALS
        ],
        "axes": [to_json(row) for row in found.axes],
        "strategies": [to_json(row) for row in found.strategies],
        "tree": [to_json(row) for row in found.tree],
        "evidence": list(found.evidence),
        "versions": [to_json(row) for row in found.versions],
        "tried": [
            {
                "way": one.way,
                "runs": one.trial.runs,
                "failed": one.trial.failed if one.fails else 0,
                "refusal": one.trial.refusal,
            }
            for one in found.attempts
        ],
        "failing_case": _case(found.failing),
        "minimal_case": _case(found.minimal),
        "repro": {
            "file": found.repro or None,
            "failed": found.repro_failed,
            "runs": found.repro_runs,
            "note": found.repro_note,
        },
        "tries": found.tries,
        "seconds": round(found.seconds, 1),
        "torch": found.torch,
    }


def _axes(found: Bisection, standing: SettingStatus) -> list[str]:
    return list(dict.fromkeys(row.axis for row in found.axes if row.standing is standing))


def _case(case: Configuration | None) -> dict[str, Any] | None:
    return None if case is None else {"way": way_of(case), **case.as_json()}
