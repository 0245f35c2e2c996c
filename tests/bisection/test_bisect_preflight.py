from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from diagnostics.bisection.from_preflight import model_fails
from diagnostics.cli import doctor
from diagnostics.core.errors import UsageError
from diagnostics.core.findings import Evidence, Finding, Outcome, Severity, Status, Verdict


def verdict(stage: str, name: str, severity: Severity = Severity.ERROR) -> Verdict:
    proof = (Evidence(source="agent", observed="SIGSEGV"),)
    finding = Finding(code="P701", name=name, severity=severity, title="rank 1 died", where="rank 1", evidence=proof)
    outcome = Outcome(
        code="P701", name="model-step", stage=stage, status=Status.DONE, title="", seconds=1.0, findings=(finding,)
    )
    return Verdict(outcomes=(outcome,), seconds=1.0)


@pytest.mark.parametrize(
    ("stage", "name", "severity", "expected"),
    [
        ("model", "native-crash", Severity.ERROR, True),
        ("model", "python-exception", Severity.ERROR, True),
        ("model", "native-crash", Severity.WARNING, False),
        ("model", "config-refused", Severity.ERROR, False),
        ("model", "killed-externally", Severity.ERROR, False),
        ("host", "native-crash", Severity.ERROR, False),
    ],
)
def test_a_bisection_follows_a_model_that_fails_by_itself(
    stage: str, name: str, severity: Severity, expected: bool
) -> None:
    assert model_fails(verdict(stage, name, severity)) is expected


def test_without_a_config_there_is_no_model_to_bisect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="--bisect needs a CONFIG"):
        CliRunner().invoke(doctor(), ["preflight", "--bisect"], catch_exceptions=False)
