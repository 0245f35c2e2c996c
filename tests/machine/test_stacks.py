"""py-spy that is slow, torn, or refused: programs in its place say what it would say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from diagnostics.machine.deadlines import in_parallel
from diagnostics.machine.facts import MachineError
from diagnostics.machine.processes.debugger_tools import ask, running_tools
from diagnostics.machine.processes.python_stacks import StacksRefusedError, read_stacks

THREADS: list[dict[str, Any]] = [
    {"os_thread_id": 8, "thread_name": "loader", "active": True, "owns_gil": False, "frames": []},
    {"os_thread_id": 7, "thread_name": None, "active": False, "owns_gil": True,
     "frames": [{"name": "go", "filename": "/t.py", "line": 3}, {"name": "<module>", "filename": "/t.py", "line": 9}]},
]  # fmt: skip


def program(folder: Path, *lines: str) -> str:
    path = folder / "py-spy"
    path.write_text("\n".join(["#!/bin/bash", f"cd {folder}", "echo >> calls", *lines, ""]))
    path.chmod(0o755)
    return str(path)


def test_the_main_thread_comes_first_and_two_equal_looks_are_steady(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text(json.dumps(THREADS))
    stacks = read_stacks(7, program=program(tmp_path, "cat answer"), deadline_s=20)
    assert stacks is not None
    assert stacks.steady
    assert [(thread.native_id, thread.name, thread.holds_gil) for thread in stacks.threads] == [
        (7, "", True),
        (8, "loader", False),
    ]
    assert [(frame.file, frame.line, frame.function) for frame in stacks.threads[0].frames] == [
        ("/t.py", 3, "go"),
        ("/t.py", 9, "<module>"),
    ]


def test_a_torn_look_is_repeated_and_a_moving_process_is_not_steady(tmp_path: Path) -> None:
    for number, line in ((2, 3), (3, 4)):
        threads = [{**THREADS[1], "frames": [{"name": "go", "filename": "/t.py", "line": line}]}]
        (tmp_path / f"answer{number}").write_text(json.dumps(threads))
    (tmp_path / "answer1").write_text('[{"os_thread_id": 7, "fra')
    spy = program(tmp_path, 'cat "answer$(wc -l < calls | tr -d " ")"')
    stacks = read_stacks(7, program=spy, deadline_s=20)
    assert stacks is not None
    assert (stacks.steady, stacks.threads[0].frames[0].line) == (False, 4)


def test_no_python_is_no_failure(tmp_path: Path) -> None:
    spy = program(tmp_path, "echo 'Error: Failed to find python version from target process' >&2; exit 1")
    assert read_stacks(7, program=spy, deadline_s=20) is None


@pytest.mark.parametrize(
    ("lines", "kind", "reason"),
    [
        (("echo 'Permission Denied: Try again' >&2",), StacksRefusedError, "Permission Denied: Try again"),
        (("echo 'Error: No such process' >&2",), MachineError, "py-spy: No such process"),
        (("echo '[]'",), MachineError, "py-spy: no thread could be read"),
        (("exec sleep 60",), MachineError, "py-spy: no answer within 0.[0-9] s"),
    ],
)
def test_each_failure_has_its_reason(
    tmp_path: Path, lines: tuple[str, ...], kind: type[Exception], reason: str
) -> None:
    with pytest.raises(kind, match=reason):
        read_stacks(7, program=program(tmp_path, *lines), deadline_s=0.4 if "sleep" in lines[0] else 20)
    assert running_tools() == frozenset()


def test_a_tool_that_is_not_there_is_a_problem_and_no_exception() -> None:
    assert ask(["/nowhere/gdb"], deadline_s=1).problem == "/nowhere/gdb does not start: No such file or directory"


def test_a_task_that_hangs_holds_up_nobody(tmp_path: Path) -> None:
    def fail() -> int:
        raise OSError("gone")

    answers = in_parallel(
        {"good": lambda: 1, "bad": fail, "late": lambda: int(ask(["sleep", "5"], deadline_s=3).stdout or 0)},
        deadline_s=0.5,
    )
    assert answers.results == {"good": 1}
    assert [str(error) for error in answers.errors.values()] == ["gone"]
    assert answers.late == ("late",)
