"""What became of a failure in a job that says 0: which later run of the same program made it good."""

from __future__ import annotations

import pytest

from diagnostics.dynamic.exit_status.failure_handling import failure_fates
from diagnostics.dynamic.job.job import JobProcess, ProcessRole
from tests.hand_made import a_job, a_process, agent

AGAIN = "the same program ran again, to a good end"


def run(pid: int, began_s: float, *words: str, code: int = 0) -> JobProcess:
    return a_process(
        pid, argv=("python", *words), parent_pid=9, code=code, began_s=began_s, at_s=began_s + 2.0,
        agent=agent(pid=pid, steps=5),
    )  # fmt: skip


SERVER = a_process(9, rank=None, part=ProcessRole.HELPER, argv=("python", "server.py"), at_s=99.0)
FAILED = run(12, 1.2, "client.py", "2", "client2_r0.pt", code=1)
ROUND = (run(10, 1.0, "client.py", "0", "client0_r0.pt"), run(11, 1.1, "client.py", "1", "client1_r0.pt"), FAILED)


@pytest.mark.parametrize(
    ("later", "how"),
    [
        ((run(21, 5.0, "client.py", "1", "client1_r1.pt"),), ""),
        ((run(21, 5.0, "client.py", "1", "client1_r1.pt"), run(22, 5.0, "client.py", "2", "client2_r1.pt")), AGAIN),
        ((run(22, 5.0, "client.py", "2", "client2_r0.pt", "--smaller"),), AGAIN),
        ((run(22, 5.0, "client.py", "2", "client2_r0.pt"),), "the same command ran again, to a good end"),
    ],
    ids=["the next round of another", "its own next round", "with one more option", "the same"],
)
def test_a_failure_is_made_good_by_a_later_run_that_is_most_like_it(later: tuple[JobProcess, ...], how: str) -> None:
    (fate,) = failure_fates(a_job(SERVER, *ROUND, *later, code=0))
    assert fate.how == how
