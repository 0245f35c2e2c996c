from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from diagnostics.core.registry import BrokenPlugin, DuplicatePluginError, discover

_numbers = itertools.count()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / f"made_plugins_{next(_numbers)}"
    path.mkdir()
    (path / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield path
    for name in [name for name in sys.modules if name.startswith("made_plugins_")]:
        del sys.modules[name]


def package(folder: Path, **files: str) -> ModuleType:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    importlib.invalidate_caches()
    return importlib.import_module(folder.name)


def test_plugins_come_sorted_by_code_and_helpers_are_none(folder: Path) -> None:
    made = package(folder, zebra="CODE = 'A1'", apple="CODE = 'B1'", helper="x = 1", nothing="CODE = None")
    assert [(code, module.__name__.rpartition(".")[2]) for code, module in discover(made).items()] == [
        ("A1", "zebra"),
        ("B1", "apple"),
    ]


def test_another_attribute_may_be_the_key(folder: Path) -> None:
    assert [*discover(package(folder, one="ORDER = 20", two="ORDER = 10"), key="ORDER")] == [10, 20]


def test_an_order_of_zero_counts(folder: Path) -> None:
    assert [*discover(package(folder, one="ORDER = 0"), key="ORDER")] == [0]


def test_two_files_with_one_code_are_both_named(folder: Path) -> None:
    made = package(folder, first="CODE = 'A1'", second="CODE = 'A1'")
    with pytest.raises(DuplicatePluginError) as error:
        discover(made)
    assert str(error.value) == f"{folder}/second.py and {folder}/first.py both have CODE = 'A1'"


def test_a_file_that_cannot_be_imported_stops_others_only_where_nobody_collects_it(folder: Path) -> None:
    made = package(folder, good="CODE = 'A1'", bad="1 / 0")
    broken: list[BrokenPlugin] = []
    assert [*discover(made, broken=broken)] == ["A1"]
    assert [(plugin.name, plugin.path, str(plugin.error)) for plugin in broken] == [
        ("bad", f"{folder}/bad.py", "division by zero")
    ]
    with pytest.raises(ZeroDivisionError):
        discover(made)


def test_folders_of_a_package_are_themes_and_hold_its_plugins(folder: Path) -> None:
    for theme, code in (("early", "A2"), ("late", "A1")):
        (folder / theme).mkdir()
        (folder / theme / "__init__.py").touch()
        (folder / theme / "one.py").write_text(f"CODE = '{code}'")
    made = package(folder, engine="CODE = 'engines are no plugins'")
    assert [(code, module.__name__.partition(".")[2]) for code, module in discover(made).items()] == [
        ("A1", "late.one"),
        ("A2", "early.one"),
    ]
