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
