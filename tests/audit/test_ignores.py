"""Comments that tell the audit to be silent: which lines they mean, and what is said about bad and unused ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules_for_tests import LINES, WAITS

from diagnostics.audit import run as audit_run
from diagnostics.audit.found import Audit
from diagnostics.audit.run import AuditOptions, run


@pytest.fixture(autouse=True)
def small_rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = {code: rule for code, rule in audit_run.known_rules().items() if code.startswith("A0")}
    monkeypatch.setattr(audit_run, "known_rules", lambda broken=None: {**own, "A901": WAITS, "A902": LINES})
    monkeypatch.chdir(tmp_path)


def audited(text: str, name: str = "a.py", **options: tuple[str, ...]) -> Audit:
    Path(name).write_text(text, encoding="utf-8")
    return run(AuditOptions(paths=(Path(name),), **options))  # type: ignore[arg-type]


def told(result: Audit) -> list[str]:
    return [f"{one.hit.line} {one.code}" for one in result.found]


def test_a_comment_on_the_line_excuses_the_hit() -> None:
    result = audited("x = 1\nwait()  # ups: ignore[A901] the other side ends\nwait()\n")
    assert told(result) == ["3 A901"]
    assert [one.hit.line for one in result.ignored] == [2]


@pytest.mark.parametrize(
    "text",
    [
        "# ups: ignore[A901] why\nwait()\n",
        "# ups: ignore[A9] why\n# more\n\nwait()\n",
        "x = wait(  # ups: ignore[A905, A901] why\n)\n",
        "x = [\n    wait(),\n]  # ups: ignore[A901] why\n",
        "x = 1\nif (a and  # ups: ignore[A901] why\n        wait()):\n    pass\n",
        "wait()  # noqa: E501  # ups: ignore[a901] why\n",
        "import x  # ups: ignore[A901] why\nwait()\n",  # the first statement is a step of every hit
        "# ups: ignore-file[A9] all of it\nx = 1\nwait()\n",
        "wait()  # UPS: Ignore[A901] why\n",
    ],
)
def test_it_also_means_the_statement_the_next_line_the_file_and_the_lines_of_steps(text: str) -> None:
    assert [one for one in told(audited(text)) if "A901" in one] == []


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\nif a:  # ups: ignore[A901] why\n    wait()\n",
        "x = 1\nwait()\n# ups: ignore[A901] why\n",
        "'''# ups: ignore-file[A901] why'''\nwait()\n",
        "x = '# ups: ignore[A901] why'; y = 1\nwait()\n",
        "x = 1\nwait()  # ups: ignore[A902] why\n",
        "x = 1\nwait()  # ups: ignore\n",
        "x = 1\nwait()  # ups: ignore[A901]\n",
        "x = 1\n" * 31 + "# ups: ignore-file[A901] why\nwait()\n",
    ],
)
def test_it_means_no_other_line_no_other_rule_and_nothing_without_a_reason(text: str) -> None:
    assert len([one for one in told(audited(text)) if "A901" in one]) == 1


@pytest.mark.parametrize(
    ("comment", "told_about_it"),
    [
        ("# ups: ignore", "this comment names no rule: it ignores nothing"),
        ("# ups: ignore[] why", "this comment names no rule: it ignores nothing"),
        ("# ups:ignore A901 why", "this comment names no rule: it ignores nothing"),
        ("# ups: ignore[A901]", "this comment gives no reason: it ignores nothing"),
        ("# ups: ignore[A901] --", "this comment gives no reason: it ignores nothing"),
        ("# ups: ignore[E501] why", "this comment names E501, which is no code of a rule: it ignores nothing"),
        ("# ups: ignore[A977] why", "this comment names A977, which no rule has: it ignores nothing"),
    ],
)
def test_a_bad_comment_is_named(comment: str, told_about_it: str) -> None:
    found = [one for one in audited(f"x = 1\n{comment}\n").found if one.code == "A001"]
    assert [one.hit.title for one in found] == [told_about_it]


def test_an_unused_comment_is_a_note() -> None:
    result = audited("x = 1  # ups: ignore[A901] why\n")
    assert [(one.code, one.hit.title) for one in result.found] == [
        ("A002", "A901 finds nothing here: the comment can go")
    ]
    assert result.exit_code(strict=True) == 0


def test_nobody_knows_whether_a_comment_is_used_where_its_rule_was_not_asked() -> None:
    assert told(audited("x = 1  # ups: ignore[A901] why\n", ignore=("A901",))) == []
    assert told(audited("x = 1  # ups: ignore[A901] why\n", select=("A002",))) == []


def test_notes_about_comments_can_be_left_out_like_any_rule() -> None:
    assert told(audited("x = 1  # ups: ignore[A901] why\n", ignore=("unused-ignore",))) == []


def test_shell_scripts_yaml_and_dockerfiles_have_the_same_comments() -> None:
    shell = "odd  # ups: ignore[A902] why\nodd\n# ups: ignore[A902] why\nx \\\n  odd\n"
    assert told(audited(shell, "a.sh")) == ["2 A902"]
    assert told(audited("# ups: ignore-file[A902] why\na: odd\n", "a.yaml")) == []
    assert told(audited("RUN odd\n# ups: ignore[A902] why\nRUN odd\n", "Dockerfile")) == ["1 A902"]
