"""What is named and is not there, or something else: one sentence with a remedy, and exit code 2, in every command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
NO_RECORD = "error: empty holds no record of a job\n  name the folder "
NO_FILE = ": no such file\n  name what you start: --script train.py --its-options\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("diagnose empty", NO_RECORD),
        ("diagnose --log none.log", "error: cannot read the log none.log: no such file or folder\n  check the"),
        ("top empty", NO_RECORD),
        ("export empty --chrome", NO_RECORD),
        ("perf empty", NO_RECORD),
        ("parity none.py:make", "error: none.py:make: no such file: none.py\n  check the spelling: ls -l none.py\n"),
        ("parity --script none.py", "error: none.py" + NO_FILE),
        ("bisect-model --script none.py --lr 1", "error: none.py" + NO_FILE),
        ("preflight escape.yaml", "error: escape.yaml:2 is not valid YAML: the character '\\x1b' may not stand in"),
    ],
)
def test_what_is_not_there_is_wrong_use(tmp_path: Path, words: str, said: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "escape.yaml").write_text("data: 1\nname: \x1b[31mred\n")
    program = [sys.executable, "-c", "from diagnostics.cli import main; main()", *words.split()]
    done = subprocess.run(
        program, cwd=tmp_path, env={"PYTHONPATH": str(PROJECT), "PATH": ""}, capture_output=True, text=True, check=False
    )
    told = done.stderr.partition("error: ")
    assert (done.returncode, (told[1] + told[2])[: len(said)]) == (2, said)
    assert "Traceback" not in done.stderr
    assert [one.name for one in sorted(tmp_path.iterdir())] == ["empty", "escape.yaml"]
