"""The launch probe with a real torchrun, and how launch lines are read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fakes import FailingChild, fake_machine, preflight_config
from whole_finding import told

from diagnostics.core.thresholds import Thresholds
from diagnostics.machine.execution.child_process import GroupChild
from diagnostics.machine.host.network import TcpNetwork
from diagnostics.machine.processes.processes import SystemProcesses
from diagnostics.preflight.rendezvous import torchrun_spawns_ranks
from diagnostics.static.launch_files.launch_line import read_launch_line

REAL = {"child": GroupChild(), "network": TcpNetwork(SystemProcesses())}
RUN = (sys.executable, "-m", "torch.distributed.run")


def test_two_ranks_start_and_their_variables_arrive(tmp_path: Path) -> None:
    config = preflight_config(tmp_path, python=sys.executable)
    result = torchrun_spawns_ranks.probe(fake_machine(**REAL), config)
    assert (result.title, result.findings) == ("2 ranks started; their variables arrived, in subprocesses too", ())


def test_a_mistyped_option_of_the_launcher_is_told_in_its_own_words(tmp_path: Path) -> None:
    config = preflight_config(tmp_path, script=(*RUN, "--nproc-per-nod=2", "--no-such=1", "train.py"))
    [finding] = torchrun_spawns_ranks.probe(fake_machine(**REAL), config).findings
    said = finding.evidence[0].observed  # argparse's own words, all options first
    last = said.split(" | ")[-1]
    assert last.endswith("error: unrecognized arguments: --no-such=1")
    line = " ".join(finding.evidence[0].source.split()[:5])
    assert line == f"{' '.join(RUN)} --nproc-per-nod=2 --no-such=1"
    assert told([finding]) == (
        f"""ERROR P202 launcher-failed at {" ".join(RUN)}
the launcher ended with 2: {last}
saw {said} by {finding.evidence[0].source}, not exit code 0
fix: correct the launcher's options
$ {" ".join(RUN)} --help"""
    )


def test_a_master_whose_name_nobody_knows_is_told_before_its_time_is_up(tmp_path: Path) -> None:
    there = ("--master-addr", "no-such-host.invalid", "--master-port", "29577", "--nproc-per-node", "1")
    config = preflight_config(
        tmp_path, script=(*RUN, *there, "train.py"), thresholds=Thresholds(rendezvous_deadline_s=8.0)
    )
    [finding] = torchrun_spawns_ranks.probe(fake_machine(**REAL), config).findings
    assert (finding.name, finding.where) == ("master-name-unknown", "no-such-host.invalid")
    assert finding.title == (
        "no-such-host.invalid, at which the ranks are to meet, is no name that this machine can resolve: they wait for "
        "it until their time is up"
    )


def test_a_launcher_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    config = preflight_config(tmp_path, script=("torchrun", "train.py"))
    [finding] = torchrun_spawns_ranks.probe(fake_machine(child=FailingChild()), config).findings
    assert told([finding]) == (
        f"""ERROR P202 launcher-missing at torchrun
the launcher does not start: cannot start torchrun: Permission denied
saw cannot start torchrun: Permission denied by {finding.evidence[0].source}, not ranks
fix: check its spelling and PATH
$ command -v torchrun"""
    )


def test_a_launch_inside_a_launch_is_named_and_the_ranks_start_all_the_same(tmp_path: Path) -> None:
    around = {"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "3"}
    config = preflight_config(tmp_path, python=sys.executable)
    result = torchrun_spawns_ranks.probe(fake_machine(**REAL, environ=around), config)
    assert result.measured["ranks"] == 2
    assert told(result.findings) == (
        """WARNING P202 nested-launch at RANK
preflight runs inside a launcher: RANK is 3 already; it was taken out for the probes
saw 3 by echo $RANK, not not set
fix: start preflight before the launcher
$ unset RANK LOCAL_RANK WORLD_SIZE"""
    )


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
