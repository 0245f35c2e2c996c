"""Trainings that draw the same numbers after each seeding are told; those that draw others, or none, are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.randomness import numbers_drawn_again
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import torch
    from torch import manual_seed, nn
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    loader = DataLoader(TensorDataset(torch.randn(24, 4)), 4, shuffle=True, generator=torch.Generator())
    def seed_everything(seed):
        return torch.manual_seed(seed)
    def fit():
        for (x,) in loader:
            noise = {noise}
            optimizer.zero_grad(); net(x + noise).pow(2).mean().backward(); optimizer.step()
    def evaluate(epoch):
        with torch.no_grad():
            return net(torch.randn(8, 4, generator={seeding}))
    for epoch in range(5):
        {before}
        fit()
        {after}
"""
DRAWN, NONE = "torch.randn(4, 4)", "0.0"
EVALUATES = "evaluate(epoch)"


def told(watch: Callable[..., Any], noise: str, seeding: str, before: str, after: str) -> Match | None:
    run = watch(PROGRAM.format(noise=noise, seeding=seeding, before=before, after=after))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return numbers_drawn_again.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("noise", "seeding", "before", "line"),
    [
        (DRAWN, "torch.manual_seed(7)", "", 17),
        (DRAWN, "manual_seed(7)", "", 17),
        (DRAWN, "None", "seed_everything(7)", 10),
        ("nn.functional.dropout(torch.ones(4, 4))", "seed_everything(7)", "", 10),
    ],
)
def test_a_seed_that_comes_back_in_each_epoch_is_told(
    watch_warm: Callable[..., Any], noise: str, seeding: str, before: str, line: int
) -> None:
    found = told(watch_warm, noise, seeding, before, EVALUATES)
    assert found is not None
    assert (found.failure_class, found.finding.title) == (
        "rng-collision",
        f"The training draws the same random numbers over and over: main.py:{line} seeds torch's own generator with 7 "
        "each time",
    )


@pytest.mark.parametrize(
    ("noise", "seeding", "before", "after"),
    [
        (DRAWN, "torch.Generator().manual_seed(7)", "", EVALUATES),
        (DRAWN, "torch.manual_seed(7 + epoch)", "", EVALUATES),
        (DRAWN, "torch.manual_seed(7)", "", "with torch.random.fork_rng(): evaluate(epoch)"),
        (
            DRAWN, "torch.manual_seed(7)", "",
            "state = torch.get_rng_state(); evaluate(epoch); torch.set_rng_state(state)",
        ),
        (NONE, "torch.manual_seed(7)", "", EVALUATES),
        ("torch.randn(4, 4, generator=loader.generator)", "torch.manual_seed(7)", "", EVALUATES),
        (DRAWN, "None", "seed_everything(7); optimizer = torch.optim.SGD(net.parameters(), 0.01)", ""),  # anew
        ("torch.randn(4, 4, generator=manual_seed(7))", "None", "", ""),  # before each step
    ],
)  # fmt: skip
def test_other_numbers_in_each_epoch_or_none_at_all_are_no_fault(
    watch_warm: Callable[..., Any], noise: str, seeding: str, before: str, after: str
) -> None:
    assert told(watch_warm, noise, seeding, before, after) is None
