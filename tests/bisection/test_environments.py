"""Environments for other versions: real pip and real wheels, tiny ones, of an index in a folder."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from diagnostics.bisection.environments.install import ask_for, install
from diagnostics.bisection.environments.versions import FAILS, PASSES, Tried, came_or_went, order, version_of
from diagnostics.bisection.wanted import Environment
from diagnostics.machine.execution.child_process import GroupChild

CHILD = GroupChild()


class Silent:
    """A progress that is told things."""

    def trying(self, what: str, *, number: int, most: int | None, left_s: float | None) -> None: ...

    def tried(self, what: str, trial: object) -> None: ...

    def say(self, line: str) -> None: ...

    def doing(self, what: str) -> None: ...


def make_wheel(folder: Path, version: str) -> Path:
    """Returns a wheel that calls itself torch."""
    path = folder / f"torch-{version}-py3-none-any.whl"
    info = f"torch-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("torch/__init__.py", f"__version__ = '{version}'\n")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")  # this machine's own indexes
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    folder = tmp_path / "index"
    folder.mkdir()
    for version in ("9.1.0", "9.2.0"):
        make_wheel(folder, version)
    return folder


def asked(wanted: list[str], cache: Path, confirm: Callable[[str], bool]) -> tuple[Environment, ...]:
    return ask_for(wanted, python=sys.executable, child=CHILD, progress=Silent(), confirm=confirm, cache=cache)


def test_a_download_is_announced_with_its_size_made_once_and_kept(index: Path, tmp_path: Path) -> None:
    said: list[str] = []

    def agree(line: str) -> bool:
        said.append(line)
        return True

    wanted = f"torch==9.1.0 --no-index --find-links {index}"
    (found,) = asked([wanted], tmp_path / "envs", agree)
    assert said == [f"download {wanted} 0 MB in 1 package into {tmp_path / 'envs'} (about 0 MB there)"]
    assert (found.packages, found.bytes) == (1, (index / "torch-9.1.0-py3-none-any.whl").stat().st_size)
    assert not found.ready
    made = install(found, python=sys.executable, child=CHILD, progress=Silent())
    assert (made.problem, made.ready) == ("", True)
    assert version_of(made.python, CHILD) == "9.1.0"
    found_there = CHILD.run([made.python, "-c", "import click, json; print(json.dumps(click.__file__))"], deadline_s=60)
    assert json.loads(found_there.stdout).startswith(str(Path(sys.prefix)))  # the job's packages lie behind
    (again,) = asked([wanted], tmp_path / "envs", agree)
    assert (again.ready, len(said)) == (True, 1)


def test_a_missing_wheel_is_said_with_those_there_are_and_nothing_is_asked(index: Path, tmp_path: Path) -> None:
    said: list[str] = []

    def agree(line: str) -> bool:
        said.append(line)
        return True

    wanted = [f"torch==9.7 --no-index --find-links {index}", "/no/such/python"]
    found = asked(wanted, tmp_path / "envs", agree)
    assert [one.problem for one in found] == [
        "no wheel of it for this Python and machine; the index has 9.1.0 to 9.2.0",
        "/no/such/python: no such Python, nor a folder of an environment",
    ]
    assert said == []


def test_without_a_yes_nothing_is_downloaded(index: Path, tmp_path: Path) -> None:
    (found,) = asked([f"torch==9.2.0 --no-index --find-links {index}"], tmp_path / "envs", lambda _: False)
    assert found.problem == "not downloaded: it was not agreed to"
    assert install(found, python=sys.executable, child=CHILD, progress=Silent()) == found
    assert list((tmp_path / "envs").iterdir()) == []


def test_a_python_of_ones_own_is_taken_as_it_is(tmp_path: Path) -> None:
    (found,) = asked([sys.executable], tmp_path, lambda _: False)
    assert found == Environment(wanted=sys.executable, python=sys.executable)
    assert found.ready


def tried(torch: str, result: str) -> Tried:
    return Tried(wanted=f"torch=={torch}", torch=torch, result=result)


def test_first_good_and_last_bad_are_named_in_the_order_of_versions() -> None:
    rows = [tried("2.13.0+cpu", FAILS), tried("2.9.1", PASSES), tried("2.10.0", FAILS), tried("2.14.0.dev1", PASSES)]
    assert came_or_went(rows) == (
        "it came with torch 2.10.0 (first bad); 2.9.1 is the last good one tried",
        "it is gone since torch 2.14.0.dev1 (first good); 2.13.0+cpu is the last bad one tried",
    )


def test_versions_that_all_fail_name_no_change_and_neither_does_one_that_cannot_run() -> None:
    assert came_or_went([tried("2.9.1", FAILS), tried("2.8.0", FAILS), tried("2.7.0", "cannot run")]) == ()


def test_a_development_build_comes_before_its_release() -> None:
    versions = ["2.10.0", "2.9.1+cu128", "2.10.0.dev20251001", "2.9.1", "garbage"]
    assert sorted(versions, key=order) == ["garbage", "2.9.1+cu128", "2.9.1", "2.10.0.dev20251001", "2.10.0"]
