"""Every rule on its own bad and good projects: what it says about the bad is compared whole, the good are silent."""

from __future__ import annotations

import pytest
from rule_cases import RULES, audited, codes, folder, hit_lines, projects, rendered


@pytest.mark.parametrize("code", codes())
def test_bad_projects_give_exactly_the_expected_hits(code: str) -> None:
    """To rewrite: python tests/audit/rules/update.py CODE, then read it."""
    assert rendered(code) == (folder(code) / "expected.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", codes())
def test_every_bad_project_is_found(code: str) -> None:
    assert [folder.name for folder in projects(code, "bad") if not audited(folder, code).found] == []
    assert projects(code, "bad"), "no folder bad"


@pytest.mark.parametrize("code", codes())
def test_good_projects_are_silent_also_at_possible(code: str) -> None:
    assert {folder.name: list(hit_lines(audited(folder, code).found)) for folder in projects(code, "good")} == {
        folder.name: [] for folder in projects(code, "good")
    }
    assert projects(code, "good"), "no folder good"


def test_every_rule_has_cases_and_every_case_a_rule() -> None:
    assert codes() == list(RULES)
