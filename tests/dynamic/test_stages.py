"""Which trainings of a job ran one after the other: earlier launches, and programs that no launcher started."""

from __future__ import annotations

from diagnostics.dynamic.job.job import JobProcess, ProcessRole
from diagnostics.dynamic.job.stages import other_stages
from tests.hand_made import a_job, a_process, agent


def trained(pid: int, began_s: float, at_s: float, *, rank: int | None = 0, code: int = 0, helper: bool = False,
            steps: int = 9, parent: int = 1) -> JobProcess:  # fmt: skip
    return a_process(
        pid, rank=None if helper else rank, part=ProcessRole.HELPER if helper else ProcessRole.RANK, code=code,
        began_s=began_s, at_s=at_s, agent=agent(pid=pid, steps=steps), parent_pid=parent,
    )  # fmt: skip


LAST = (trained(90, 50.0, 60.0), trained(91, 50.1, 61.0, rank=1))


def stages_of(*others: JobProcess) -> list[list[tuple[int, int | None]]]:
    found = other_stages(a_job(*others, *LAST, code=0, ranks=LAST))
    assert all(stage.culprits == stage.victims == () for stage in found)
    assert not any(one.pid in (90, 91) for stage in found for one in stage.processes)
    return [[(one.pid, one.rank) for one in stage.ranks] for stage in found]


def test_ranks_that_lived_together_before_the_last_launch_are_one_stage() -> None:
    assert stages_of(trained(20, 1.0, 9.0), trained(21, 1.2, 8.0, rank=1), trained(30, 10.0, 12.0)) == [
        [(20, 0), (21, 1)], [(30, 0)],
    ]  # fmt: skip


def test_a_plain_program_that_trained_is_rank_0_of_its_stage() -> None:
    assert stages_of(trained(70, 70.0, 80.0, helper=True)) == [[(70, 0)]]


def test_what_made_no_step_or_ran_beside_the_ranks_or_below_one_is_no_stage() -> None:
    shell = a_process(5, rank=None, part=ProcessRole.SHELL, at_s=99.0)
    beside, below = trained(70, 55.0, 80.0, helper=True), trained(71, 70.0, 80.0, helper=True, parent=90)
    assert stages_of(shell, trained(72, 70.0, 80.0, helper=True, steps=0), beside, below) == []


def test_an_attempt_that_failed_and_was_made_again_is_no_stage() -> None:
    assert stages_of(trained(20, 1.0, 9.0, code=1), trained(21, 1.2, 9.0, rank=1, code=-15)) == []


def test_of_a_long_sweep_the_last_four_are_looked_at() -> None:
    assert stages_of(*(trained(at, at, at + 0.5) for at in range(10, 20))) == [
        [(16, 0)], [(17, 0)], [(18, 0)], [(19, 0)]
    ]  # fmt: skip
