"""Jobs of shells in which no Python failed: the line of the script is told, by what shell, make or program said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

SET_E = "set -eu\nFOLDER=data\ncp $FOLDER/train.h5 here\necho trains\n"
QUIET = "set -e\necho begins\npython check.py\necho trains\n"
TWICE = "cp --version > version.txt\ncp nothing.h5 here\n"


@pytest.mark.parametrize(
    ("argv", "script", "line"),
    [
        (("bash", "run.sh"), "set -e\ncd no/such/folder\necho trains\n", "run.sh:2"),
        (("sh", "run.sh"), "cd no/such/folder || exit 3\n", "run.sh:1"),
        (("bash", "run.sh"), "set -u\necho begins\ntorchrun --nproc-per-node $GPUS train.py\n", "run.sh:3"),
        (("bash", "run.sh"), "if true; then\necho begins\n\n", "run.sh:2"),
        (("bash", "run.sh"), SET_E, "run.sh:3"),
        (("bash", "run.sh"), TWICE, None),  # either line may have said it, where neither was seen
        (("bash", "run.sh"), "echo 'model.c:1: error: no main'\nexit 3\n", None),
    ],
)
def test_the_line_at_which_a_script_failed_is_told(
    watched: Callable[..., Any], argv: tuple[str, ...], script: str, line: str | None
) -> None:
    done = watched(*argv, run_sh=script, model_c="int x;\n")
    outcome, failure_class, ranks, location = done.verdict
    assert (outcome, failure_class, ranks) == ("crash", "unknown", [])
    assert location == line or (script == TWICE and location == "run.sh:2")  # its process may have been seen


def test_the_line_of_a_makefile_is_told(watched: Callable[..., Any]) -> None:
    done = watched("make", "-f", "all.mk", "train", all_mk="train: data\n\techo trains\ndata:\n\ttar xzf none.tgz\n")
    assert done.verdict == ("crash", "unknown", [], "all.mk:4")


def test_a_python_program_that_failed_is_told_by_its_own_line(watched: Callable[..., Any]) -> None:
    done = watched("bash", "run.sh", run_sh=QUIET, check_py="import sys\n\nassert len(sys.argv) > 1\n")
    assert done.verdict == ("crash", "python-exception", [0], "check.py:3")


def test_what_a_command_that_a_python_program_checked_has_to_say_is_asked_for(watched: Callable[..., Any]) -> None:
    done = watched(
        "python", "drive.py", drive_py="import subprocess\nsubprocess.run(['false', 'case 1'], check=True)\n"
    )
    assert done.verdict == ("crash", "python-exception", [0], "drive.py:2")
    assert done.report["fix"] == (
        "see what this command wrote before it ended with 1, or run it by itself: '['false', 'case 1']'"
    )
