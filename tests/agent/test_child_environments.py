"""A child with an environment of its parent's making: a Python is watched all the same, others see nothing of it."""

from __future__ import annotations

import json
import sys

import pytest

PARENT = """\
import json, os, subprocess, sys
own = {"PATH": os.environ["PATH"], "MINE": "1", **json.loads(os.environ.get("MORE", "{}"))}
before = dict(own)
command = json.loads(sys.argv[1]) if len(sys.argv) > 1 else json.loads(os.environ["COMMAND"])
done = subprocess.run(command, env=own, capture_output=True, text=True)
assert own == before
print(done.stdout, end="")
"""
SHOW = "import json, os; print(json.dumps(sorted(os.environ)))"


def names(done) -> set[str]:
    return {*json.loads(done.stdout)} - {"LC_CTYPE", "PWD", "SHLVL", "_"}


@pytest.mark.parametrize("own_path", [None, "/somewhere"])
def test_a_python_is_watched_and_finds_the_variables_that_it_was_given(watch, own_path: str | None) -> None:
    command = [sys.executable, "-c", "import os; print(os.environ.get('PYTHONPATH'), os.environ['MINE'])"]
    more = {} if own_path is None else {"PYTHONPATH": own_path}
    done = watch(PARENT, env={"COMMAND": json.dumps(command), "MORE": json.dumps(more)})
    assert done.stderr == ""
    path, mine = done.stdout.split()
    assert (path.endswith(own_path or "site"), mine) == (True, "1")
    assert len(done.record.agents) == 2


def test_a_script_of_a_python_is_watched_by_its_first_line(watch, tmp_path) -> None:
    script = tmp_path / "tool"
    script.write_text(f"#!{sys.executable}\nprint('ran')\n")
    script.chmod(0o755)
    done = watch(PARENT, env={"COMMAND": json.dumps([str(script)])})
    assert (done.stdout, done.stderr, len(done.record.agents)) == ("ran\n", "", 2)


def test_what_is_no_python_gets_what_it_was_given_and_so_does_one_that_is_to_be_left_alone(watch) -> None:
    done = watch(PARENT, env={"COMMAND": json.dumps(["/usr/bin/env"])})
    assert {line.partition("=")[0] for line in done.stdout.splitlines()} == {"PATH", "MINE"}
    done = watch(
        PARENT,
        env={"COMMAND": json.dumps([sys.executable, "-c", SHOW]), "MORE": json.dumps({"UPS_DOCTOR_OFF": "1"})},
    )
    assert names(done) == {"PATH", "MINE", "UPS_DOCTOR_OFF"}


def test_a_command_that_is_not_there_fails_as_before(watch) -> None:
    done = watch(PARENT, env={"COMMAND": json.dumps(["/nowhere/python"])})
    assert done.stderr.splitlines()[-1] == "FileNotFoundError: [Errno 2] No such file or directory: '/nowhere/python'"
