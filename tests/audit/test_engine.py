"""Rules are asked about files that concern them; a rule that crashes or dies ends nothing."""

from __future__ import annotations

import gc
import os
import signal
from typing import Any

import pytest
from rules_for_tests import LINES, WAITS, dies, fails, python, rule

from diagnostics.audit import workers
from diagnostics.audit.engine import audit
from diagnostics.audit.executed import asks_runs
from diagnostics.audit.found import Audit, Crash
from diagnostics.audit.rule import Violation
from diagnostics.audit.run import rules_of_files
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.project_file import FileKind, ProjectFile

WAITING = "from x import wait\n\n\ndef f():\n    wait()\n    wait(5)\n"


def told(result: Audit) -> list[str]:
    return [f"{one.hit.where} {one.code} {one.hit.confidence}" for one in result.found]


def test_hits_come_by_file_and_line_and_only_what_is_confirmed_is_an_error() -> None:
    files = [python("b.py", WAITING), ProjectFile("a.sh", b"odd\n", FileKind.SHELL), python("c.py", "x = 1\n")]
    result = audit(files, {"A901": WAITS, "A902": LINES})
    assert told(result) == ["a.sh:1:1 A902 confirmed", "b.py:5:5 A901 confirmed", "b.py:6:5 A901 likely"]
    assert [one.severity for one in result.found] == [Severity.WARNING, Severity.ERROR, Severity.WARNING]
    assert result.asked == {"A901": 1, "A902": 1}
    assert [one.name for one in result.findings] == ["finds-a902", "finds-a901", "finds-a901"]


def test_of_two_hits_of_one_rule_at_one_place_the_surer_stays() -> None:
    def twice(file: ProjectFile, project: Any) -> Any:
        for confidence in (Confidence.POSSIBLE, Confidence.CONFIRMED, Confidence.LIKELY):
            yield Violation(file=file, line=1, title=str(confidence), fix="none", confidence=confidence)

    result = audit([python("a.py", "x = 1\n")], {"A903": rule("A903", twice)})
    assert told(result) == ["a.py:1:1 A903 confirmed"]


def test_columns_count_characters() -> None:
    result = audit([python("a.py", "é = wait()\n")], {"A901": WAITS})
    assert told(result) == ["a.py:1:5 A901 confirmed"]


def test_a_rule_that_crashes_on_one_file_is_named_with_it_and_the_others_go_on() -> None:
    result = audit([python("a.py", WAITING)], {"A900": rule("A900", fails), "A901": WAITS})
    assert [(one.code, one.path, one.reason) for one in result.crashed] == [("A900", "a.py", "KeyError: 'no a.py'")]
    assert "in fails" in result.crashed[0].detail
    assert len(result.found) == 2
    assert result.exit_code() == 1
    assert audit([python("a.py", "x = 1\n")], {"A900": rule("A900", fails)}).exit_code() == 3


def test_what_is_only_possible_fails_no_commit() -> None:
    def possible(file: ProjectFile, project: Any) -> Any:
        yield Violation(file=file, line=1, title="who knows", fix="none", confidence=Confidence.POSSIBLE)

    result = audit([python("a.py", "x = 1\n")], {"A903": rule("A903", possible)})
    assert (len(result.found), result.exit_code(), result.exit_code(strict=True)) == (1, 0, 0)


def test_warnings_fail_only_where_it_is_strict() -> None:
    result = audit([ProjectFile("a.sh", b"odd\n", FileKind.SHELL)], {"A902": LINES})
    assert (result.exit_code(), result.exit_code(strict=True)) == (0, 1)


def test_the_garbage_collector_works_again_afterwards() -> None:
    audit([python("a.py", WAITING)], {"A901": WAITS})
    assert gc.isenabled()


@pytest.fixture
def always_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ENOUGH", 0)


@pytest.mark.usefixtures("always_workers")
def test_workers_answer_as_one_process_does() -> None:
    files = [python(f"{name}.py", WAITING) for name in "abcdefg"]
    rules = {"A900": rule("A900", fails), "A901": WAITS}
    alone, together = audit(files, rules), audit(files, rules, jobs=3)
    assert [one.hit for one in together.found] == [one.hit for one in alone.found]
    assert sorted(one.path for one in together.crashed) == [file.shown for file in files]


def test_rules_about_programs_that_are_run_are_asked_in_one_process() -> None:
    running, file = {"A101", "A311", "A502"}, python("train.py", "x = 1\n")
    last_was_asked, tell = os.pipe()

    def ask(code: str, file: ProjectFile) -> workers.Answer:
        if code == "A101":  # the other process takes every unit that is left, meanwhile
            os.read(last_was_asked, 1)
        if code == "A401":
            os.write(tell, b"x")
        return [], [Crash(code=code, path=file.shown, reason=str(os.getpid()))]

    tasks = [(code, file) for code in ("A101", "A205", "A311", "A401", "A502")]
    crashed = [one for _, several in workers.answers(tasks, ask, 2, running) for one in several]
    os.close(last_was_asked)
    os.close(tell)
    assert sorted(one.code for one in crashed) == [code for code, _ in tasks]
    assert len({one.reason for one in crashed if one.code in running}) == 1
    assert len({one.reason for one in crashed}) == 2


def test_a_rule_that_asks_programs_that_are_run_is_known_by_its_imports() -> None:
    asking = {code for code, one in rules_of_files().items() if asks_runs(one)}
    assert {"A103", "A104", "A161", "A205"} & asking == {"A103", "A205"}


@pytest.mark.usefixtures("always_workers")
@pytest.mark.parametrize("jobs", [2, 4])
def test_a_worker_that_dies_takes_one_rule_on_one_file_with_it(jobs: int) -> None:
    files = [python(f"{name}.py", WAITING) for name in "abcd"]
    result = audit(files, {"A900": rule("A900", dies), "A901": WAITS}, jobs=jobs)
    assert result.crashed == (Crash(code="A900", path="b.py", reason="the process that asked it ended with signal 9"),)
    assert [one.hit.file.shown for one in result.found if one.code == "A900"] == ["a.py", "c.py", "d.py"]
    assert len([one for one in result.found if one.code == "A901"]) == 8


def always_dies(file: ProjectFile, project: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.usefixtures("always_workers")
def test_a_rule_that_kills_again_and_again_is_asked_no_more() -> None:
    files = [python(f"{name}.py", WAITING) for name in "abcdefgh"]
    result = audit(files, {"A900": rule("A900", always_dies), "A901": WAITS}, jobs=2)
    assert [one.path for one in result.crashed] == ["a.py", "b.py", "c.py"]
    assert result.crashed[-1].reason == "the process that asked it ended with signal 9, as before: it is asked no more"
    assert len(result.found) == 16
