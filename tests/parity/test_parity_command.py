"""What the command line of `ups-doctor parity` refuses before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from diagnostics.cli import doctor
from diagnostics.core.errors import UsageError


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
