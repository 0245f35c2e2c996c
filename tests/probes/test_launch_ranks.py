"""The launch probe with a real torchrun, and how launch lines are read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fakes import FailingChild, fake_machine, preflight_config

from diagnostics.analysis.launch_line import read_launch_line
from diagnostics.machine.child import GroupChild
from diagnostics.machine.network import TcpNetwork
from diagnostics.machine.processes import SystemProcesses
from diagnostics.probes import torchrun_spawns_ranks

REAL = {"child": GroupChild(), "network": TcpNetwork(SystemProcesses())}
RUN = (sys.executable, "-m", "torch.distributed.run")


def test_two_ranks_start_and_their_variables_arrive(tmp_path: Path) -> None:
    config = preflight_config(tmp_path, python=sys.executable)
    result = torchrun_spawns_ranks.probe(fake_machine(**REAL), config)
    assert (result.title, result.findings) == ("2 ranks started; their variables arrived, in subprocesses too", ())


def test_a_mistyped_option_of_the_launcher_is_told_in_its_own_words(tmp_path: Path) -> None:
    config = preflight_config(tmp_path, script=(*RUN, "--nproc-per-nod=2", "--no-such=1", "train.py"))
    [finding] = torchrun_spawns_ranks.probe(fake_machine(**REAL), config).findings
    assert finding.name == "launcher-failed"
    assert "unrecognized arguments: --no-such=1" in finding.title


def test_a_launcher_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    config = preflight_config(tmp_path, script=("torchrun", "train.py"))
    [finding] = torchrun_spawns_ranks.probe(fake_machine(child=FailingChild()), config).findings
    assert finding.title == "the launcher does not start: cannot start torchrun: Permission denied"


@pytest.mark.parametrize(
    ("line", "launcher", "program"),
    [
        ("train.py --lr 1", "", "train.py --lr 1"),
        ("torchrun --nproc-per-node 2 train.py --lr 1", "torchrun --nproc-per-node 2", "train.py --lr 1"),
        (
            "torchrun --standalone --nproc_per_node=2 -m pkg.train",
            "torchrun --standalone --nproc_per_node=2",
            "pkg.train",
        ),
        ("python -m torch.distributed.run --nnodes=1 t.py", "python -m torch.distributed.run --nnodes=1", "t.py"),
        (
            "accelerate launch --multi_gpu --num_processes 2 t.py",
            "accelerate launch --multi_gpu --num_processes 2",
            "t.py",
        ),
    ],
)
def test_a_launch_line_is_read(line: str, launcher: str, program: str) -> None:
    found = read_launch_line(line.split())
    assert (" ".join(found.launcher), " ".join(found.program)) == (launcher, program)
