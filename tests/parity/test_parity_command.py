"""What `ups-doctor parity` refuses, before anything is started and where the user's own function raises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from diagnostics.cli import doctor
from diagnostics.core.errors import UsageError
from diagnostics.core.own_folders import CHILDREN


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name one thing to compare: CONFIG, MODULE:MAKE or --script TRAIN.PY"),
        (["net:make", "--script", "train.py"], "name one thing to compare: CONFIG, MODULE:MAKE or --script TRAIN.PY"),
        (["--wrap", "fsdp2", "--script", "train.py"], "--wrap belongs to MODULE:MAKE"),
        (["--compile", "--script", "train.py"], "--compile belongs to MODULE:MAKE"),
        (["net:make", "--set", "a=1"], "--set needs a CONFIG whose keys it overrides"),
        (["--script", "missing.py"], "missing.py: no such file"),
        (["train.py"], "train.py is no CONFIG"),
    ],
)
def test_contradictions_are_refused(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as refused:
        CliRunner().invoke(doctor(), ["parity", *words], catch_exceptions=False)
    assert refused.value.message.startswith(said)
    assert list(tmp_path.iterdir()) == []


RAISES = """
import torch
def make():
    return torch.nn.Linear(4, 'x')
def loss(output, target):
    raise ValueError('no loss of these')
def late():
    return torch.nn.Linear(4, 1), loss, [(torch.ones(4, 4), torch.ones(4, 1))] * 3
"""


@pytest.mark.parametrize(
    ("function", "code", "said"),
    [
        # What was named cannot be used: wrong use, as everywhere.
        ("make", 2, "error: own.py:make raised TypeError at own.py:4: empty(): argument 'size'"),
        # It trains, and fails on the ranks at least: what one process would do is not known.
        (
            "late",
            3,
            "Undecided: with 2 ranks, rank 0 ended with exit code 1 after 0 steps: ValueError: no loss of these",
        ),
    ],
)
def test_what_a_function_of_the_user_raises_is_told_without_a_frame_of_the_doctor(
    function: str, code: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(RAISES)
    done = subprocess.run(
        [sys.executable, "-c", "from diagnostics.cli import main; main()", "parity", f"own.py:{function}"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    told = done.stdout + done.stderr
    assert (done.returncode, said in told, str(CHILDREN) in told) == (code, True, False), told
    assert ('File "' + str(tmp_path / "own.py") + '", line 6, in loss' in told) == (function == "late")
