"""A data worker that the kernel killed: torch's handler raises wherever the rank is, which is not to blame."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, raised
from made_batches import one_pass, source

from diagnostics.diagnosis.crash import data_worker_dies, uncaught_exception
from diagnostics.dynamic.job.job import ExceptionSource, ProcessRole

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


UNEQUAL = "RuntimeError: stack expects each tensor to be equal size, but got [16] at entry 0 and [17] at entry 6"
COLLATED = """\
Traceback (most recent call last):
  File "train.py", line 20, in <module>
    for batch in loader:
  File "{torch}/_utils.py", line 9, in reraise
    raise exception
RuntimeError: Caught RuntimeError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "{torch}/utils/data/_utils/worker.py", line 4, in _worker_loop
    data = fetcher.fetch(index)
  File "{torch}/utils/data/_utils/fetch.py", line 7, in fetch
    return self.collate_fn(data)
{own}  File "{torch}/utils/data/_utils/collate.py", line 5, in collate_tensor_fn
    return torch.stack(batch, 0, out=out)
{said}
"""
DATA = """class Captions:
    def __getitem__(self, index):
        ids = self.encode(self.captions[index])
        return {"image": self.images[index], "tokens": ids}
"""


@pytest.mark.parametrize("at", ["worker", "message"])
@pytest.mark.parametrize(
    ("own", "lines"),
    [
        ("", ("data.py:4", "train.py:20")),
        ('  File "data.py", line 9, in pad\n    return default_collate(batch)\n', ("data.py:9",)),
    ],
)
def test_samples_that_fit_no_batch_are_placed_where_the_data_set_gives_them(
    at: str, own: str, lines: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "data.py").write_text(DATA)
    printed = COLLATED.format(torch=TORCH, own=own, said=UNEQUAL)
    message = "RuntimeError: " + printed.split("RuntimeError: ", 1)[1]
    loader = source(one_pass(0, range(8)), at="train.py:9", workers="2", getitem=f"{tmp_path}/data.py:2")
    sent = raised(UNEQUAL, *(["data.py:9"] if own else []), how=ExceptionSource.WORKER)
    worker = a_process(
        7, rank=None, part=ProcessRole.DATA_WORKER, parent_pid=1, raised=(sent,) if at == "worker" else ()
    )
    rank = a_process(
        1, code=1, raised=(raised(message, "train.py:20"),), agent=agent(pid=1, sources=(loader,)), stderr=printed
    )
    found = uncaught_exception.match(a_job(rank, worker, cwd=tmp_path))
    assert found is not None
    assert (found.culprit_ranks, found.locations[:2]) == ((0,), lines)
    assert found.finding.fix is not None
    assert found.finding.fix.text.startswith(f"pad or cut the samples to one size where {lines[0]} gives them")
