"""SARIF is what its schema says: sarif-schema-2.1.0.json is that of the standard with Errata 01, as OASIS publishes it.

Copyright OASIS Open 2023. All Rights Reserved. It may be copied and furnished to others, provided that this notice is
included; the policy is at https://www.oasis-open.org/policies-guidelines/ipr/.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft4Validator
from rules_for_tests import LINES, WAITS, fails, python, rule

from diagnostics.audit import notebooks
from diagnostics.audit.engine import audit
from diagnostics.audit.output.filter import Filter
from diagnostics.audit.output.sarif import sarif_json, uri
from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.audit.run import known_rules
from diagnostics.static.program.project_file import FileKind, ProjectFile

SCHEMA = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
BOOK = {"cells": [{"cell_type": "code", "source": "wait()"}]}


def sarif(*files: ProjectFile, **more: Any) -> dict[str, Any]:
    rules = {"A901": WAITS, "A902": LINES, **more}
    text = sarif_json(audit(files, rules), Filter(), rules, version="1.2.3", exit_code=1)
    body: dict[str, Any] = json.loads(text)
    Draft4Validator(SCHEMA).validate(body)
    return body


def test_a_result_has_its_rule_place_flow_and_fingerprint() -> None:
    (run,) = sarif(python("pkg/träin 1.py", "import x\né = wait()\n"))["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("ups-doctor", "1.2.3")
    assert driver["rules"][0] == {
        "id": "A901",
        "name": "finds-a901",
        "shortDescription": {"text": "What A901 finds."},
        "fullDescription": {"text": "What A901 finds."},
        "help": {"text": "What A901 finds.\n\nWhat it does: finds it."},
        "defaultConfiguration": {"level": "error"},
    }
    (result,) = run["results"]
    place = {"uri": "pkg/tr%C3%A4in%201.py"}
    step = {
        "physicalLocation": {"artifactLocation": place, "region": {"startLine": 1}},
        "message": {"text": "the file begins here"},
    }
    fingerprint = result.pop("partialFingerprints")
    assert result == {
        "ruleId": "A901",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "wait() waits for ever\nfix: give it a timeout"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": place,
                    "region": {"startLine": 2, "startColumn": 5, "snippet": {"text": "é = wait()"}},
                }
            }
        ],
        "properties": {"confidence": "confirmed", "precision": "very-high"},
        "codeFlows": [{"threadFlows": [{"locations": [{"location": step}]}]}],
        "relatedLocations": [{"id": 1, **step}],
    }
    assert list(fingerprint) == ["codePathLine/v1"]


def test_fingerprints_stay_where_lines_move_and_tell_equal_lines_apart() -> None:
    def marks(text: str) -> list[str]:
        results = sarif(python("a.py", text))["runs"][0]["results"]
        return [one["partialFingerprints"]["codePathLine/v1"] for one in results]

    assert marks("wait()\nwait()\n") == marks("x = 1\nwait()\n\nwait()\n")
    assert len(set(marks("wait()\nwait()\n"))) == 2


def test_crashes_and_skipped_files_are_notifications_of_an_unsuccessful_run() -> None:
    (run,) = sarif(python("a.py", "x = 1\n"), python("b.py", "(\n"), A900=rule("A900", fails))["runs"]
    (invocation,) = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 1)
    assert [(one["level"], one["message"]["text"]) for one in invocation["toolExecutionNotifications"]] == [
        ("error", "A900: the rule failed: KeyError: 'no a.py'"),
        ("warning", "skipped: line 1 is no Python 3: '(' was never closed"),
    ]


def test_a_notebook_has_no_line_of_its_file() -> None:
    (result,) = sarif(notebooks.read("a.ipynb", json.dumps(BOOK).encode()))["runs"][0]["results"]
    assert result["locations"] == [
        {
            "physicalLocation": {"artifactLocation": {"uri": "a.ipynb"}},
            "logicalLocations": [{"name": "a.ipynb:cell 1:1", "kind": "member"}],
        }
    ]


def test_a_step_in_a_place_that_is_no_file_is_valid_too() -> None:
    def check(file: ProjectFile, project: object) -> Any:
        yield Violation(file=file, line=1, title="t", fix="f", steps=(ExplanationStep(place="somewhere", text="else"),))

    sarif(
        ProjectFile("Dockerfile", b"FROM x\n", FileKind.DOCKERFILE),
        A903=rule("A903", check, READS=[FileKind.DOCKERFILE]),
    )


def test_the_real_rules_have_valid_metadata() -> None:
    rules = known_rules()
    text = sarif_json(audit([], rules), Filter(), rules, version="1", exit_code=0)
    Draft4Validator(SCHEMA).validate(json.loads(text))


def test_paths_become_uris() -> None:
    assert [uri("a b/c.py"), uri("/x/y#z.py"), uri("../a.py")] == ["a%20b/c.py", "file:///x/y%23z.py", "../a.py"]
