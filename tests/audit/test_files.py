"""Which files an audit reads, and that no file ends it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from rules_for_tests import WAITS, project

from diagnostics.audit.engine import audit
from diagnostics.audit.files import collect
from diagnostics.core.errors import UsageError
from diagnostics.static.program.project_file import FileKind


def shown(folder: Path, *given: Path) -> dict[str, FileKind]:
    return {file.shown: file.kind for file in collect(given or [folder], below=folder).files}


def test_kinds_are_told_by_name_and_files_without_a_suffix_by_their_first_line(tmp_path: Path) -> None:
    for name in (
        "a.py",
        "run.sh",
        "job.slurm",
        "c.yaml",
        "Dockerfile.gpu",
        "x.dockerfile",
        "Containerfile",
        "notes.md",
    ):
        (tmp_path / name).write_text("")
    (tmp_path / "start").write_text("#!/usr/bin/env bash\n")
    (tmp_path / "tool").write_text("#!/usr/bin/env python3\n")
    (tmp_path / "data").write_text("no program")
    assert shown(tmp_path) == {
        "a.py": FileKind.PYTHON,
        "run.sh": FileKind.SHELL,
        "job.slurm": FileKind.SHELL,
        "start": FileKind.SHELL,
        "tool": FileKind.PYTHON,
        "c.yaml": FileKind.YAML,
        "Dockerfile.gpu": FileKind.DOCKERFILE,
        "x.dockerfile": FileKind.DOCKERFILE,
        "Containerfile": FileKind.DOCKERFILE,
    }


def test_of_json_only_the_configurations_of_deepspeed_are_read(tmp_path: Path) -> None:
    (tmp_path / "deepspeed").mkdir()
    for name in ("ds_config.json", "my_zero3.json", "deepspeed/stage2.json", "package.json", "words.json", "ads.json"):
        (tmp_path / name).write_text("{}")
    assert shown(tmp_path) == dict.fromkeys(("deepspeed/stage2.json", "ds_config.json", "my_zero3.json"), FileKind.JSON)


def test_what_is_installed_built_or_of_tools_is_left_out_unless_it_is_named(tmp_path: Path) -> None:
    project(tmp_path, a_py="", build__b_py="", dist__c_py="", env__d_py="")
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    for hidden in (".git", ".github"):
        (tmp_path / hidden).mkdir()
        (tmp_path / hidden / "e.yaml").write_text("")
    assert list(shown(tmp_path)) == [".github/e.yaml", "a.py"]
    assert list(shown(tmp_path, tmp_path / "build", tmp_path / "env", tmp_path / ".git" / "e.yaml")) == [
        ".git/e.yaml",
        "build/b.py",
        "env/d.py",
    ]


def test_the_copies_of_sources_in_the_doctors_own_records_are_left_out(tmp_path: Path) -> None:
    project(tmp_path, a_py="", runs__7__record__sources__001_a_py="", record__b_py="")
    (tmp_path / "runs" / "7" / "record" / "agents").mkdir()
    (tmp_path / "runs" / "7" / "record" / "job.json").write_text("{}")
    assert list(shown(tmp_path)) == ["a.py", "record/b.py"]


def test_scripts_that_a_bisection_wrote_are_left_out(tmp_path: Path) -> None:
    project(tmp_path, a_py="", reports__7__repro_py="", other__repro_py="")
    for name in ("tries.jsonl", "report.json"):
        (tmp_path / "reports" / "7" / name).write_text("{}")
    assert list(shown(tmp_path)) == ["a.py", "other/repro.py"]


def test_links_in_a_circle_and_folders_reached_twice_are_read_once(tmp_path: Path) -> None:
    project(tmp_path, pkg__a_py="")
    (tmp_path / "pkg" / "again").symlink_to(tmp_path / "pkg")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert list(shown(tmp_path)) == ["pkg/a.py"]


def test_a_path_that_is_not_there_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        collect([tmp_path / "missing"])


HOSTILE = {
    "latin.py": "# -*- coding: latin-1 -*-\nname = 'é'\n".encode("latin-1"),
    "wrong.py": "name = 'é'\n".encode("latin-1"),
    "utf16.py": "x = 1\n".encode("utf-16"),
    "nul.py": b"x = 1\0\n",
    "brackets.py": b"x = " + b"(" * 10_000 + b")" * 10_000,
    "minus.py": b"x = " + b"-" * 10_000 + b"1\n",
    "sums.py": b"x = " + b"1 + " * 20_000 + b"1\n",
    "attributes.py": b"x = a" + b".b" * 10_000 + b"\n",
    "calls.py": b"x = a" + b"()" * 10_000 + b"\n",
    "strings.py": b"x = " + b"'a' " * 10_000 + b"\n",
    "ifs.py": b"if a: pass\n" + b"elif a: pass\n" * 5_000,
    "deep.py": b"".join(b" " * at + b"if a:\n" for at in range(90)) + b" " * 90 + b"pass\n",
    "empty.py": b"",
    "bom.py": b"\xef\xbb\xbfx = 1\n",
    "two.py": b"print 'old'\n",
    "codec.py": b"# coding: rot13\nk = 1\n",
    "unknown.py": b"# coding: nothing\nx = 1\n",
    "book.ipynb": b"{",
    "julia.ipynb": b'{"metadata": {"kernelspec": {"language": "julia"}}, "cells": []}',
    "list.ipynb": b"[1]",
    "deep.ipynb": b"[" * 100_000,
    "bytes.sh": b"\xff\xfe\x00odd\n",
    "bomb.yaml": b"a: &a [x]\nb: &b [*a,*a]\n" * 50,
}
READ = {
    "latin.py", "minus.py", "sums.py", "attributes.py", "calls.py", "strings.py", "ifs.py", "deep.py", "empty.py",
    "bom.py", "bytes.sh", "bomb.yaml",
}  # fmt: skip


def test_every_hostile_file_is_read_or_skipped_with_a_reason(tmp_path: Path) -> None:
    for name, text in HOSTILE.items():
        (tmp_path / name).write_bytes(text)
    collected = collect([tmp_path], below=tmp_path)
    result = audit(collected.files, {"A901": WAITS})
    skipped = {one.path: one.problem for one in result.skipped}
    assert {file.shown for file in result.files} | set(skipped) == set(HOSTILE)
    assert all(skipped.values())
    assert set(skipped) >= set(HOSTILE) - READ
    assert skipped["two.py"].startswith("line 1 is no Python 3: Missing parentheses")
    assert not result.crashed


def test_what_is_no_plain_readable_file_is_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "gone.py").symlink_to(tmp_path / "nothing.py")
    (tmp_path / "round.py").symlink_to(tmp_path / "round.py")
    large = tmp_path / "large.py"
    with large.open("wb") as file:
        file.truncate(50 << 20)
    (tmp_path / "notes.txt").write_text("")
    found = collect([tmp_path, tmp_path / "notes.txt"], below=tmp_path)
    assert not found.files
    assert {one.path: one.problem.split(": ")[-1] for one in found.skipped} == {
        "gone.py": "no such file or folder",
        "round.py": "its symbolic links lead in a circle",
        "pipe.py": "is no regular file",
        "large.py": "holds 50.0 MiB, more than the 2 MiB that are read",
        "notes.txt": "is no Python, notebook, shell script, YAML, Dockerfile or Makefile",
    }


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no such file to try it on")
def test_a_file_whose_reading_fails_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to("/proc/self/mem")
    (only,) = collect([tmp_path], below=tmp_path).skipped
    assert only.problem == "cannot be read: Input/output error"


def test_folders_as_deep_as_paths_can_be_are_walked(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(1100):  # more than calls may be nested
        folder = folder / "d"
        os.mkdir(folder)  # noqa: PTH102
    (folder / "a.py").write_text("")
    assert len(shown(tmp_path)) == 1
    subprocess.run(["rm", "-r", tmp_path / "d"], check=True)  # pytest's own removal is recursive
