"""Where a launcher has put a task, from the variables that launchers really set."""

from __future__ import annotations

import pytest

from diagnostics.core.errors import UsageError
from diagnostics.hosts.launcher import host_names, launched

STEP = {
    "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_NODES": "3", "SLURM_STEP_NODELIST": "n[1-3]",
    "SLURM_PROCID": "2", "SLURM_NODEID": "2", "SLURM_LOCALID": "0", "SLURM_NTASKS": "3",
}  # fmt: skip


def test_a_step_of_slurm_is_found_by_itself() -> None:
    run = launched(STEP, asked=False)
    assert run is not None
    assert (run.number, run.hosts, run.first, run.names, run.takes_part) == (2, 3, "n1", ("n1", "n2", "n3"), True)
    other = launched({**STEP, "SLURM_PROCID": "0", "SLURM_NODEID": "0"}, asked=False)
    assert other is not None
    assert other.port == run.port


def test_only_the_first_task_of_a_host_takes_part() -> None:
    run = launched({**STEP, "SLURM_PROCID": "5", "SLURM_LOCALID": "1"}, asked=False)
    assert run is not None
    assert not run.takes_part


def test_a_batch_script_and_one_host_are_no_launch_over_several() -> None:
    batch = {"SLURM_JOB_ID": "77", "SLURM_NTASKS": "3", "SLURM_NNODES": "3", "SLURM_PROCID": "0"}
    assert launched(batch, asked=False) is None
    assert launched({**STEP, "SLURM_STEP_NUM_NODES": "1"}, asked=False) is None


def test_rank_and_world_size_count_where_they_were_asked_for() -> None:
    left_over = {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "10.0.0.1"}
    assert launched(left_over, asked=False) is None
    run = launched(left_over, asked=True)
    assert run is not None
    assert (run.number, run.hosts, run.first, run.takes_part) == (1, 2, "10.0.0.1", False)
    with pytest.raises(UsageError, match="no launcher has started this"):
        launched({}, asked=True)


def test_mpirun_without_an_address_says_what_to_add() -> None:
    variables = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
                 "OMPI_COMM_WORLD_LOCAL_RANK": "0"}  # fmt: skip
    with pytest.raises(UsageError) as refused:
        launched(variables, asked=False)
    assert "MASTER_ADDR" in refused.value.hint
    run = launched({**variables, "MASTER_ADDR": "n1"}, asked=False)
    assert run is not None
    assert (run.number, run.hosts, run.takes_part) == (1, 2, True)


@pytest.mark.parametrize(
    ("short", "names"),
    [
        ("n1", ["n1"]),
        ("n[1-3,7]", ["n1", "n2", "n3", "n7"]),
        ("gpu-[08-10],cpu1", ["gpu-08", "gpu-09", "gpu-10", "cpu1"]),
        ("r[1-2]n[1-2].lan", ["r1n1.lan", "r1n2.lan", "r2n1.lan", "r2n2.lan"]),
        ("", []),
    ],
)
def test_slurms_short_form_of_names(short: str, names: list[str]) -> None:
    assert host_names(short) == names
