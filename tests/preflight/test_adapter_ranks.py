"""Ranks forked from the warm child end as programs of their own would: same code, same words, same stacks."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import TORCH, FakeRanks, fake_machine

from diagnostics.adapter.description import JobDescription
from diagnostics.core.thresholds import Thresholds
from diagnostics.machine.contract import Machine
from diagnostics.machine.facts import RankResult
from diagnostics.machine.this import this_machine
from diagnostics.preflight import adapter_ranks
from diagnostics.preflight.model import model_step
from diagnostics.preflight.probe import PreflightConfig

ZOO = Path(__file__).parents[1] / "zoo"
ENDS = """
import os, sys
print(__name__, sys.argv[1:], sys.path[0] == os.getcwd(), os.environ["RANK"])
exec(sys.argv[1])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("modules")
    (made / "ends.py").write_text(ENDS)
    return made


@pytest.fixture(scope="module")
def machine(folder: Path) -> Iterator[Machine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{ZOO}:{folder}")
        with this_machine(python=sys.executable) as found:
            yield found


def config_of(record: Path, module: str, path: Path, folder: Path) -> PreflightConfig:
    env = {"PYTHONPATH": f"{ZOO}:{folder}", "OMP_NUM_THREADS": "1"}
    job = JobDescription(module=module, config=path, env=env)
    return PreflightConfig(
        python=sys.executable, nproc=2, backend="gloo", record_dir=record, thresholds=Thresholds(), job=job
    )


def ended(results: list[RankResult]) -> list[tuple[int, int | None, str, str]]:
    return [(one.returncode, one.signal, one.stdout, (one.stderr.splitlines() or [""])[-1]) for one in results]


@pytest.mark.parametrize(
    ("statement", "code", "last_line"),
    [
        ("pass", 0, ""),
        ("sys.exit(2)", 2, ""),
        ("sys.exit('no such file')", 1, "no such file"),
        ("raise ValueError('wrong')", 1, "ValueError: wrong"),
        ("os.kill(os.getpid(), 9)", -9, ""),
    ],
)
def test_a_forked_rank_ends_as_a_program_does(machine, folder, tmp_path, statement, code, last_line):
    config = config_of(tmp_path, "ends", tmp_path, folder)
    argv, env = [sys.executable, "-m", "ends", statement], config.job.env
    assert adapter_ranks.may_fork(machine, sys.executable, env)
    forked = ended(adapter_ranks.run(machine, config, argv, deadline_s=60, env=env))
    assert [one[0] for one in forked] == [code, code]
    assert {one[3] for one in forked} == {last_line}
    programs = ended(machine.ranks.run_command(argv, 2, deadline_s=60, env=env))
    if code != -9:  # what was printed dies in the buffer
        assert forked[0][2] == f"__main__ [{statement!r}] True 0\n"
    assert forked == programs


@pytest.mark.parametrize(
    "fault", ["constructor", *(pytest.param(late, marks=pytest.mark.slow) for late in ("forward", "backward"))]
)
def test_a_native_crash_of_a_forked_rank_is_named_as_that_of_a_program(machine, folder, tmp_path, fault):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"fault": fault}))
    config = config_of(tmp_path, "segfault_adapter", path, folder)
    (forked,) = model_step.probe(machine, config).findings
    (program,) = model_step.probe(replace(machine, environ={}), config).findings
    assert "levels.1.attention (Attention)" in forked.title
    assert (forked.title, forked.where, forked.name) == (program.title, program.where, program.name)


@pytest.mark.parametrize(
    ("gpus", "python", "env", "forks"),
    [
        (0, TORCH.executable, {"OMP_NUM_THREADS": "1"}, True),
        (0, TORCH.executable, {"OMP_NUM_THREADS": "1", "LD_PRELOAD": "libjemalloc.so"}, False),
        (0, "./in-container.sh", {"OMP_NUM_THREADS": "1"}, False),
        (1, TORCH.executable, {"OMP_NUM_THREADS": "1"}, False),
    ],
)
def test_ranks_are_programs_where_a_fork_could_change_what_is_found(gpus, python, env, forks):
    ranks = FakeRanks(facts=replace(TORCH, device_count=gpus))
    assert adapter_ranks.may_fork(fake_machine(ranks=ranks), python, env) is forks
