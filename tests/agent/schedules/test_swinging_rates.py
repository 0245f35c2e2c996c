"""A cosine of the epochs that is stepped with each batch is told; restarts, cycles and ends are not: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.schedules import rate_swings
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import math
    import torch
    from torch.optim import lr_scheduler
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    model, epochs = torch.nn.Linear(4, 1), 5
    loader = DataLoader(TensorDataset(torch.randn(28, 4)), 4, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    cosine = lr_scheduler.CosineAnnealingLR
    def half_wave(step, last=5):
        return 0.5 * (1 + math.cos(math.pi * step / last))
    scheduler = {scheduler}
    for epoch in range(epochs):
        for number, (x,) in enumerate({batches}):
            optimizer.zero_grad(); model(x).pow(2).mean().backward(); optimizer.step()
            {step}
        {after}
"""
EACH = "scheduler.step()"
LAMBDA = "(lambda last: lr_scheduler.LambdaLR(optimizer, lambda step: half_wave(step, last)))(epochs)"
WITHOUT_LOADER = "[(torch.randn(4, 4),) for _ in range(7)]"


def told(watch: Callable[..., Any], scheduler: str, batches: str = "loader", step: str = EACH, after: str = "") -> Any:
    run = watch(PROGRAM.format(scheduler=scheduler, batches=batches, step=step, after=after))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return rate_swings.match(a_job(process, code=0, cwd=run.script.parent))


def shown(found: Match | None) -> tuple[str, ...]:
    return (found.failure_class, *found.locations[:2], found.finding.title) if found is not None else ()


@pytest.mark.parametrize(
    ("scheduler", "batches", "kind"),
    [
        ("cosine(optimizer, T_max=5, eta_min=1e-4)", "loader", "CosineAnnealingLR"),
        (LAMBDA, "loader", "LambdaLR"),
        ("cosine(optimizer, epochs)", WITHOUT_LOADER, "CosineAnnealingLR"),
    ],
)
def test_a_cosine_of_the_epochs_that_is_stepped_with_each_batch_is_told(
    watch_warm: Callable[..., Any], scheduler: str, batches: str, kind: str
) -> None:
    assert shown(told(watch_warm, scheduler, batches)) == (
        "wrong-schedule", "main.py:13", "main.py:17",
        f"{kind} of main.py:13 is made for the 5 epochs and stepped with each batch: the rate comes down and goes up "
        "again every 10 steps, 2 times up to step 17",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("scheduler", "batches", "step", "after"),
    [
        ("cosine(optimizer, epochs)", "loader", "", EACH),
        ("cosine(optimizer, T_max=epochs * len(loader))", "loader", EACH, ""),
        ("cosine(optimizer, T_max=7)", "loader", EACH, ""),  # down in one epoch, up in the next
        ("cosine(optimizer, T_max=3)", "loader", EACH, ""),  # of no name and no number of epochs
        ("cosine(optimizer, T_max=2)", "loader", "", EACH),
        ("lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 5)", "loader", EACH, ""),
        ("lr_scheduler.CyclicLR(optimizer, 0.001, 0.01, step_size_up=5)", "loader", EACH, ""),
        ("lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=35)", "loader", EACH, ""),
        ("cosine(optimizer, T_max=5)", WITHOUT_LOADER, EACH, ""),  # nobody knows that these are epochs
        ("cosine(optimizer, T_max=epochs - 1)", "loader", "", EACH),  # passed once, at the end
    ],
)
def test_a_rate_that_swings_on_purpose_or_comes_down_once_is_no_fault(
    watch_warm: Callable[..., Any], scheduler: str, batches: str, step: str, after: str
) -> None:
    assert shown(told(watch_warm, scheduler, batches, step, after)) == ()
