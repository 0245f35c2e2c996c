"""Answers by content: the same again is not asked again, anything else is, and no cache is no harm."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from rules_for_tests import LINES, WAITS, fails, python, rule

from diagnostics.audit import cache
from diagnostics.audit.engine import audit
from diagnostics.static.program.project_file import FileKind, ProjectFile

RULES = {"A901": WAITS, "A902": LINES}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def some() -> list[ProjectFile]:
    return [python("a.py", "wait()\n"), python("b.py", "(\n"), ProjectFile("c.sh", b"odd\n", FileKind.SHELL)]


def test_an_answer_comes_back_as_it_was(tmp_path: Path) -> None:
    answer = audit(some(), RULES)
    cache.save(tmp_path, "one", answer)
    files = some()
    back = cache.load(tmp_path, "one", files)
    assert back is not None
    assert [
        (one.code, one.severity, one.hit.where, one.hit.title, one.hit.steps, one.hit.edits) for one in back.found
    ] == [(one.code, one.severity, one.hit.where, one.hit.title, one.hit.steps, one.hit.edits) for one in answer.found]
    assert (back.skipped, back.asked) == (answer.skipped, answer.asked)
    assert [file.shown for file in back.files] == ["a.py", "c.sh"]


def test_the_key_changes_with_a_file_its_name_and_the_rules() -> None:
    one = cache.key(some(), RULES)
    others = [
        cache.key([*some(), python("d.py", "")], RULES),
        cache.key([python("a.py", "wait( )\n"), *some()[1:]], RULES),
        cache.key([python("z.py", "wait()\n"), *some()[1:]], RULES),
        cache.key(some(), {"A901": WAITS}),
    ]
    assert one == cache.key(some(), RULES)
    assert len({one, *others}) == 5


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        "null",
        '{"found": [{}], "skipped": [], "asked": {}}',
        "[" * 100_000,
        '{"found": [], "skipped": [[1]]}',
    ],
)
def test_a_damaged_answer_is_none(tmp_path: Path, damage: str) -> None:
    (tmp_path / "one.json").write_text(damage)
    assert cache.load(tmp_path, "one", some()) is None


def test_an_answer_about_files_that_are_not_there_is_none(tmp_path: Path) -> None:
    cache.save(tmp_path, "one", audit(some(), RULES))
    assert cache.load(tmp_path, "one", []) is None


def test_a_crash_is_tried_again(tmp_path: Path) -> None:
    cache.save(tmp_path, "one", audit(some(), {"A900": rule("A900", fails)}))
    assert list(tmp_path.iterdir()) == []


def test_no_place_to_write_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache.save(tmp_path / "file" / "below", "one", audit(some(), RULES))
    assert cache.load(tmp_path / "file" / "below", "one", some()) is None


def test_the_oldest_answers_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_ANSWERS", 3)
    answer = audit(some(), RULES)
    for number in range(5):
        cache.save(tmp_path, f"n{number}", answer)
        os.utime(tmp_path / f"n{number}.json", (number, number))
    cache.save(tmp_path, "new", answer)
    assert names(tmp_path) == ["n3.json", "n4.json", "new.json"]


def test_answers_are_plain_json_for_their_owner_alone(tmp_path: Path) -> None:
    where = tmp_path / "x" / "y"
    cache.save(where, "one", audit(some(), RULES))
    json.loads((where / "one.json").read_text())
    assert (where / "one.json").stat().st_mode & 0o077 == 0
