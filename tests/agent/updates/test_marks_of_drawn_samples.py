"""That random numbers which are drawn for each batch are told of, whatever draws them: real runs."""

from __future__ import annotations

import pytest

PROGRAM = """
    import random, numpy, torch
    from torch.utils.data import DataLoader, Dataset
    class Rows(Dataset):
        def __init__(self):
            self.rng, self.old = numpy.random.default_rng(3), numpy.random.RandomState(3)
            self.own, self.python = torch.Generator().manual_seed(3), random.Random(3)
        def __len__(self): return 24
        def __getitem__(self, index): return torch.full((2,), float(index) + float(DRAW))
    for rows in DataLoader(Rows(), batch_size=4): pass
"""
DRAWS = {
    "numpy.random": "numpy.random.rand()", "torch": "torch.rand(())", "random": "random.random()",
    "rng": "self.rng.random()", "old": "self.old.rand()", "own": "torch.rand((), generator=self.own)",
    "python": "self.python.random()",
}  # fmt: skip


@pytest.mark.parametrize("drawn", [*DRAWS, ""])
def test_the_generator_that_moves_with_each_batch_is_told_and_no_other(drawn: str, watch_warm) -> None:
    run = watch_warm(PROGRAM.replace("DRAW", DRAWS.get(drawn, "0")))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    (told,) = [event.text.split()[3:] for event in agent.events if event.kind == "worker-random"]
    assert [word.rpartition(":")[0] for word in told] == ([drawn] if drawn else [])


STREAM = """
    import numpy, torch
    from torch.utils.data import DataLoader, IterableDataset, get_worker_info
    class Rows(IterableDataset):
        def __init__(self): self.rng = numpy.random.default_rng(3)
        def __iter__(self):
            if OWN: self.rng = numpy.random.default_rng([3, get_worker_info().id])
            for _ in range(24): yield torch.full((2,), self.rng.standard_normal())
    for rows in DataLoader(Rows(), batch_size=4, num_workers=2): pass
"""


@pytest.mark.parametrize("own", [True, False])
def test_what_a_stream_seeds_when_it_begins_is_its_state(own: bool, watch_warm) -> None:
    run = watch_warm(STREAM.replace("OWN", str(own)))
    assert (run.returncode, run.stderr) == (0, "")
    events = [event for agent in run.record.agents for event in agent.events if event.kind == "worker-random"]
    states = [word for event in events for word in event.text.split() if word.startswith("rng:")]
    assert (len(states), len(set(states))) == (2, 2 if own else 1)
