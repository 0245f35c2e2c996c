"""The linter on this repository: what it asks of others holds here."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from diagnostics.commands.audit import command

PROJECT = Path(__file__).parent.parent.parent


def test_the_trainer_and_the_doctor_themselves_have_no_finding(tmp_path: Path) -> None:
    # In one process: beside other tests, two only work out for themselves what one asks once, a third more in all.
    folders = [str(PROJECT / name) for name in ("ups", "diagnostics", "configs")]
    result = CliRunner().invoke(command, [*folders, "--cache-dir", str(tmp_path), "--strict", "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert "nothing found" in result.output
