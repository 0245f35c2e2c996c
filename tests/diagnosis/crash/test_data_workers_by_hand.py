"""A data worker that the kernel killed: torch's handler raises wherever the rank is, which is not to blame."""

from __future__ import annotations

import pytest
from hand_made import a_job, a_process, agent, raised
from made_batches import one_pass, source

from diagnostics.diagnosis.crash import data_worker_dies
from diagnostics.dynamic.job.job import ProcessRole

TORCH = "/opt/env/lib/python3.11/site-packages/torch"
SAID = "RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed."
PRINTED = """\
Traceback (most recent call last):
  File "train.py", line 20, in <module>
    dist.all_reduce(right)
  File "{torch}/{within}", line 9, in inner
    wait()
  File "{torch}/utils/data/_utils/signal_handling.py", line 73, in handler
    _error_if_any_worker_fails()
{said}
"""


@pytest.mark.parametrize(
    ("within", "lines"),
    [
        ("distributed/distributed_c10d.py", ("feed.py:4", "train.py:20")),
        ("utils/data/dataloader.py", ("train.py:20",)),  # it asked for a batch there
    ],
)
def test_where_the_handler_only_interrupted_the_rank_the_loader_with_workers_comes_first(
    within: str, lines: tuple[str, ...]
) -> None:
    loaders = (
        source(one_pass(0, range(8)), at="feed.py:4", workers="2"),
        source(one_pass(0, range(8)), at="test.py:9"),
    )
    worker = a_process(7, part=ProcessRole.DATA_WORKER, parent_pid=1, signal=9)
    rank = a_process(
        1, code=1, raised=(raised(SAID, "train.py:20"),), agent=agent(pid=1, sources=loaders),
        stderr=PRINTED.format(torch=TORCH, within=within, said=SAID),
    )  # fmt: skip
    found = data_worker_dies.match(a_job(rank, worker))
    assert found is not None
    assert (found.culprit_ranks, found.locations) == ((0,), lines)
    assert found.finding.fix is not None
    assert found.finding.fix.text.startswith("nothing in the job sent SIGKILL")
