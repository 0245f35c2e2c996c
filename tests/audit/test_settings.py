"""[tool.ups-doctor.audit] of pyproject.toml."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules_for_tests import LINES, WAITS, rule

from diagnostics.audit.selection import Selection
from diagnostics.audit.settings import load
from diagnostics.core.errors import UsageError

RULES = {"A901": WAITS, "A902": LINES, "A801": rule("A801", None)}


def written(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text)
    return folder


def test_the_nearest_pyproject_with_our_table_holds(tmp_path: Path) -> None:
    inner = tmp_path / "inner" / "src"
    inner.mkdir(parents=True)
    written(tmp_path, '[tool.ups-doctor.audit]\nselect = ["A9"]\nexclude = ["old"]\n')
    written(tmp_path / "inner", "[tool.ruff]\n")
    found = load(inner, RULES)
    assert (found.select, found.folder) == (("A9",), str(tmp_path))
    assert load(tmp_path.parent, RULES).select == ("A",)


def test_globs_mean_files_folders_and_any_part_without_a_slash(tmp_path: Path) -> None:
    text = """
[tool.ups-doctor.audit]
exclude = ["generated", "src/*_pb2.py", "docs/"]
[tool.ups-doctor.audit.per-file-ignores]
"tests/*" = ["A9"]
"tool.py" = ["finds-a801"]
"""
    found = load(written(tmp_path, text), RULES)
    paths = ["generated/a.py", "x/generated/b.py", "src/m_pb2.py", "docs/conf.py", "src/m.py", "m_pb2.py"]
    assert [path for path in paths if found.excluded(str(tmp_path / path))] == paths[:4]
    ignored = [("tests/a/b.py", "A901"), ("x/tool.py", "A801"), ("tests/a.py", "A801"), ("src/a.py", "A901")]
    assert [(p, c) for p, c in ignored if found.ignored_in(str(tmp_path / p), c, f"finds-{c.lower()}")] == ignored[:2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = []", ":3: unknown key 'selct' in [tool.ups-doctor.audit]; did you mean 'select'?"),
        ("zzz = 1", ":3: unknown key 'zzz' in [tool.ups-doctor.audit]; known here: select, ignore, exclude,"),
        ('select = "A1"', ":3: select must be a list of texts, got 'A1'"),
        ("ignore = [1]", ":3: ignore must be a list of texts, got [1]"),
        ('ignore = ["A981"]', ":3: ignore: no rule 'A981'; did you mean 'A901'?"),
        ('per-file-ignores = ["x"]', ":3: per-file-ignores takes globs with lists of codes, got ['x']"),
        ('[tool.ups-doctor.audit.per-file-ignores]\n"a*" = ["B1"]', ":4: per-file-ignores: no rule 'B1'"),
        ("select = [", "is not valid TOML: "),
    ],
)
def test_a_mistake_names_its_line_and_what_was_meant(tmp_path: Path, text: str, message: str) -> None:
    written(tmp_path, f"[project]\n[tool.ups-doctor.audit]\n{text}\n")
    with pytest.raises(UsageError) as raised:
        load(tmp_path, RULES)
    assert message in raised.value.message


def test_our_table_has_to_be_a_table(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r":2: tool\.ups-doctor\.audit must be a table of keys, got 3"):
        load(written(tmp_path, "[tool.ups-doctor]\naudit = 3\n"), RULES)


@pytest.mark.parametrize(
    ("select", "ignore", "asked"),
    [
        (("A",), (), ["A801", "A901", "A902"]),
        (("A9",), ("A902",), ["A901"]),
        (("A901",), ("A9",), ["A901"]),
        (("A9",), ("A9",), []),
        (("finds-a801",), (), ["A801"]),
        (("A",), ("finds-a801",), ["A901", "A902"]),
    ],
)
def test_the_closer_of_select_and_ignore_wins(
    select: tuple[str, ...], ignore: tuple[str, ...], asked: list[str]
) -> None:
    assert sorted(Selection(select=select, ignore=ignore).of(RULES)) == asked


def test_a_table_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nups-doctor = 3\n")
    with pytest.raises(UsageError, match="must be a table of keys, but its part above is 3"):
        load(tmp_path, RULES)
