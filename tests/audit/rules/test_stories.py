"""Faults of a real training project, each rebuilt as a small one: days of search for people, one run for the linter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diagnostics.audit.engine import audit
from diagnostics.audit.files import collect
from diagnostics.audit.found import Found
from diagnostics.audit.run import rules_of_files
from diagnostics.core.findings import Confidence, Severity

STORIES = Path(__file__).parent / "stories"
RULES = rules_of_files()
INNOCENT = "missing_barriers"  # held to be the cause of a segfault for days; it was not


def told() -> list[str]:
    return sorted(path.name for path in STORIES.iterdir() if path.name != INNOCENT)


def shown(name: str) -> list[Found]:
    """Returns what a user sees of a story: what is confirmed or likely."""
    folder = STORIES / name
    result = audit(collect([folder], below=folder).files, RULES)
    assert not result.crashed
    return [one for one in result.found if one.hit.confidence is not Confidence.POSSIBLE]


@pytest.mark.parametrize("name", told())
def test_the_fault_of_a_story_is_found_at_its_line(name: str) -> None:
    truth = json.loads((STORIES / name / "truth.json").read_text())
    lines = {(one["file"], one["text"]) for one in truth["lines"]}
    found = {(one.hit.file.shown, one.hit.file.line(one.hit.line).strip()) for one in shown(name)}
    assert lines & found, f"{truth['defect']} found: {sorted(found)}"


def test_barriers_that_nobody_needs_are_no_error() -> None:
    assert [one.code for one in shown(INNOCENT) if one.severity is Severity.ERROR] == []
