"""Variables that a launcher loses on the way to a rank, or to what a rank starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fakes import fake_machine, preflight_config
from whole_finding import told

from diagnostics.adapter.description import JobDescription
from diagnostics.core.findings import Finding
from diagnostics.machine.execution.child_process import GroupChild
from diagnostics.preflight.rendezvous import torchrun_spawns_ranks

ZOO = Path(__file__).parent.parent / "zoo"


def findings_of(fault: str, folder: Path, first: str = "") -> tuple[Finding, ...]:
    launcher = folder / "torchrun"
    launcher.write_text(
        f"#!{sys.executable}\n"
        + (ZOO / "careless_launcher.py").read_text().replace("import os\n", f"import os\n{first}", 1)
    )
    launcher.chmod(0o755)
    job = JobDescription(module="m", config=Path("c.yaml"), env={"HF_HOME": "/data/hub", "FAULT": fault})
    config = preflight_config(folder, script=(str(launcher), "--nproc-per-node=2", "train.py"), job=job)
    return torchrun_spawns_ranks.probe(fake_machine(child=GroupChild()), config).findings


def lost(name: str, place: str, observed: str, expected: str, source: str) -> str:
    return f"""ERROR P202 env-not-propagated at {name} in {place}
{name} in {place} is {observed}, expected {expected}
saw {observed} by {source}, not {expected}
fix: set it where the launcher starts
$ export {name}=VALUE"""


def test_a_launcher_that_keeps_everything_is_silent(tmp_path: Path) -> None:
    assert findings_of("none", tmp_path) == ()


@pytest.mark.parametrize(
    ("fault", "losses"),
    [
        ("job variable", [("HF_HOME", "not set", "the value of the parent")]),
        ("another value", [("HF_HOME", "another value", "the value of the parent")]),
        ("launcher variable", [("MASTER_PORT", "not set", "set by the launcher")]),
    ],
)
def test_a_variable_lost_in_one_rank_is_named_there_and_in_its_subprocess(
    fault: str, losses: list[tuple[str, str, str]], tmp_path: Path
) -> None:
    findings = findings_of(fault, tmp_path)
    source = findings[0].evidence[0].source
    assert source.startswith(f"{tmp_path}/torchrun --nproc-per-node=2 ")
    assert told(findings) == "\n\n".join(
        lost(name, place, observed, expected, source)
        for place in ("rank 1", "a subprocess of rank 1")
        for name, observed, expected in losses
    )


def test_a_variable_lost_on_the_way_to_a_ranks_subprocess_is_named_only_there(tmp_path: Path) -> None:
    findings = findings_of("subprocess", tmp_path)
    source = findings[0].evidence[0].source
    assert told(findings) == lost("HF_HOME", "a subprocess of rank 1", "not set", "the value of the parent", source)


def test_two_ranks_with_the_same_number_are_named(tmp_path: Path) -> None:
    findings = findings_of("same rank twice", tmp_path)
    source = findings[0].evidence[0].source
    assert told(findings) == lost("RANK", "the ranks", "['0', '0']", "0 to 1, each once", source)


def test_what_a_launcher_leaves_in_the_temporary_folder_goes_with_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    assert findings_of("none", tmp_path, "import tempfile; tempfile.mkdtemp(prefix='torchelastic_')\n") == ()
    assert list(temporary.iterdir()) == []
