"""Stage model on real ranks: who died, in which module, at which line."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from diagnostics.adapter.description import JobDescription
from diagnostics.core.thresholds import Thresholds
from diagnostics.machine.this import this_machine
from diagnostics.preflight.model import model_step, parameters_agree
from diagnostics.preflight.probe import PreflightConfig, Skip
from diagnostics.record.record import RunRecord

ZOO = Path(__file__).parents[1] / "zoo"
OPERATOR = ZOO / "segfault_operator.py"
ADAPTER = ZOO / "segfault_adapter.py"


def line_of(text: str, file: Path = OPERATOR) -> int:
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)


READ = line_of("return ctypes.string_at(address)")


@pytest.fixture(scope="module")
def machine():
    """Its ranks are forks, which end as programs do: test_adapter_ranks.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ZOO))  # as the job's: what differs would be a program
        with this_machine(python=sys.executable) as real:
            yield real


@pytest.fixture
def with_programs(machine):
    """The same machine, whose ranks are programs: a variable of the job is not its own."""
    return replace(machine, environ={})


@pytest.fixture
def preflight(tmp_path):
    def config(deadline_s: float = 60.0, **asked: object) -> PreflightConfig:
        path = tmp_path / "config.json"
        path.write_text(json.dumps(asked))
        return PreflightConfig(
            python=sys.executable,
            nproc=2,
            backend="gloo",
            record_dir=tmp_path,
            thresholds=Thresholds(model_deadline_s=deadline_s),
            job=JobDescription(
                module="segfault_adapter", config=path, env={"PYTHONPATH": str(ZOO), "OMP_NUM_THREADS": "1"}
            ),
        )

    return config


def relative(file: Path) -> str:
    root = Path.cwd()
    return str(file.relative_to(root)) if file.is_relative_to(root) else str(file)


@pytest.mark.parametrize(
    ("fault", "place"),
    [
        ("constructor", "the constructor of"),
        ("forward", "the forward of"),
        ("backward", "the backward of"),
    ],
)
def test_a_module_that_segfaults_on_rank_1_only_is_named(machine, preflight, tmp_path, fault, place):
    result = model_step.probe(machine, preflight(fault=fault))
    (finding,) = result.findings
    where = f"{relative(OPERATOR)}:{READ}"
    assert finding.title == f"rank 1 died of SIGSEGV in {place} levels.1.attention (Attention) at {where}"
    assert finding.where == f"rank 1, levels.1.attention, {where}"
    assert (finding.name, finding.confidence.value, finding.role.value) == ("native-crash", "confirmed", "root")
    noted, source, stack = finding.evidence
    phase = {"constructor": "construct"}.get(fault, fault)
    assert f", phase {phase}, {phase} of levels.1.attention (Attention)" in noted.observed
    assert f"> {READ:4d}      return ctypes.string_at(address)" in source.observed.splitlines()
    assert stack.observed.splitlines()[0] == "Segmentation fault"
    assert finding.fix is not None
    assert finding.fix.commands == (
        f"ups-doctor preflight {tmp_path}/config.json --stages model --nproc 2",
        f"ups-doctor bisect-model {tmp_path}/config.json --nproc 2",
    )


@pytest.mark.slow
def test_an_architecture_of_the_users_own_is_named_through_the_real_adapter(machine, tmp_path):
    architecture = ZOO / "segfault_architecture.py"
    config = PreflightConfig(
        python=sys.executable,
        nproc=2,
        backend="gloo",
        record_dir=tmp_path,
        thresholds=Thresholds(),
        job=JobDescription(
            module="ups.doctor_job",
            config=ZOO.parents[1] / "configs" / "quickstart.yaml",
            overrides=(f"operator.architecture={architecture}:MixerOperator", f"output.dir={tmp_path}/run"),
            env={"OMP_NUM_THREADS": "1"},
        ),
    )
    (finding,) = model_step.probe(machine, config).findings
    where = f"{relative(architecture)}:{line_of('ctypes.string_at', architecture)}"
    assert finding.title == f"rank 1 died of SIGSEGV in the forward of operator.blocks.0.1 (TokenMixer) at {where}"


def test_the_healthy_twin_is_silent_and_measured(with_programs, preflight, tmp_path):
    config = preflight()
    result = model_step.probe(with_programs, config)
    assert result.findings == ()
    assert result.title.startswith("336 parameters, 0.0 MB, built in ")
    assert set(result.measured["construct_seconds_by_rank"]) == {"0", "1"}
    assert result.measured["unwatched_ranks"] == []
    agreed = parameters_agree.probe(with_programs, config)
    assert (agreed.title, agreed.findings) == ("2 ranks built the same 336 parameters", ())
    record = RunRecord.load(tmp_path / "agent")
    kinds = [event.kind for event in record.of_rank(1).events]
    assert [kind for kind in kinds if kind not in ("phase", "hooks", "threads-set")] == [
        "process-group-begin",
        "process-group",
        "ddp-begin",
        "ddp",
        "gradient-group",
        "process-group-end-begin",
        "process-group-end",
        "sys.exit",
        "exit",
    ]


def test_an_exception_names_its_line_and_its_text(with_programs, preflight):
    (finding,) = model_step.probe(with_programs, preflight(fault="exception")).findings
    where = f"{relative(OPERATOR)}:{line_of('self.attention(self.norm(x_BSD))')}"
    assert finding.title.startswith(
        f"rank 1 raised an exception in the forward of levels.0.norm (LayerNorm) at {where}: RuntimeError: Given normal"
    )
    assert finding.name == "python-exception"


def test_ranks_with_different_parameters_are_the_root_and_the_error_in_the_wrap_its_consequence(machine, preflight):
    config = preflight(fault="hidden")
    step = model_step.probe(machine, config)
    assert {finding.role.value for finding in step.findings} <= {"cascade"}
    (finding,) = parameters_agree.probe(machine, config).findings
    assert finding.title == (
        "ranks 0 and 1 built different parameters in levels.0.norm: "
        "LayerNorm of 64 bytes, weight(8,) bias(8,) against LayerNorm of 128 bytes, weight(16,) bias(16,)"
    )


def test_a_stuck_rank_is_named_with_the_line_it_waits_at(machine, preflight):
    (finding,) = model_step.probe(machine, preflight(deadline_s=12.0, fault="stuck")).findings
    where = f"{relative(ADAPTER)}:{line_of('threading.Event().wait()', ADAPTER)}"
    assert finding.name == "rank-stalled"
    assert finding.where.startswith("rank 1")
    assert where in finding.title


def test_a_rank_that_was_killed_says_so(machine, preflight):
    (finding,) = model_step.probe(machine, preflight(fault="killed")).findings
    assert finding.title == "rank 1 was ended by SIGKILL from outside, last seen in the constructor of head (Linear)"
    assert (finding.name, finding.confidence.value) == ("killed-externally", "likely")


def test_a_refused_configuration_is_the_adapters_own_sentence(machine, preflight, tmp_path):
    (finding,) = model_step.probe(machine, preflight(fault="refused")).findings
    assert finding.title == f"unknown key 'dims' in {tmp_path}/config.json"
    assert finding.name == "config-refused"


def test_an_unwatched_rank_is_still_reported_and_says_what_is_missing(machine, preflight, tmp_path):
    isolated = tmp_path / "python"
    isolated.write_text(f'#!/bin/sh\nunset UPS_DOCTOR_DIR\nexec {sys.executable} "$@"\n')
    isolated.chmod(0o755)
    config = preflight(fault="forward")
    findings = model_step.probe(machine, replace_python(config, str(isolated))).findings
    assert [finding.title for finding in findings] == ["rank 1 died of SIGSEGV"]
    assert findings[0].evidence[0].observed.startswith("SIGSEGV; no agent's file: python -I or -E")


def replace_python(config: PreflightConfig, python: str) -> PreflightConfig:
    return replace(config, python=python)


@pytest.mark.parametrize("probe", [model_step.probe, parameters_agree.probe])
def test_without_a_config_it_is_skipped(machine, preflight, probe):
    with pytest.raises(Skip, match="needs a CONFIG"):
        probe(machine, replace(preflight(), job=None))
