"""Schedules that count epochs, all ranks' steps or micro-batches while they are stepped with each step are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.schedules import schedule_counts_others
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import torch
    from torch.optim import lr_scheduler
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    model, epochs, every = torch.nn.Linear(4, 1), 8, {every}
    loader = DataLoader(TensorDataset(torch.randn(80, 4)), 4, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    def linear(total):
        return lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / total))
    scheduler = {scheduler}
    for epoch in range(epochs):
        for number, (x,) in enumerate(loader):
            model(x).pow(2).mean().backward()
            if number % every == every - 1:
                optimizer.step(); optimizer.zero_grad()
                {step}
        {after}
"""
EACH = "scheduler.step()"
MILESTONES = "lr_scheduler.MultiStepLR(optimizer, {})"


def told(watch: Callable[..., Any], scheduler: str, ranks: int = 1, **fields: Any) -> Match | None:
    parts = {"step": "pass", "after": "pass", "every": 1, **fields}
    run = watch(PROGRAM.format(scheduler=scheduler, **parts))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    argv, cwd = ("python", str(run.script)), str(run.script.parent)
    processes = [
        a_process(100 + rank, rank=rank, agent=agent, prints=prints, argv=argv, cwd=cwd) for rank in range(ranks)
    ]
    return schedule_counts_others.match(a_job(*processes, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("scheduler", "fields", "said"),
    [
        (
            MILESTONES.format("[4, 6]"),
            {},
            "its milestones are of the 8 epochs: the last one, 6, was behind it in epoch 1",
        ),
        (MILESTONES.format("milestones=[3], gamma=0.5"), {}, "its milestones are of the 8 epochs: the last one, 3"),
        (MILESTONES.format("[8 // 2, 8 * 3 // 4]"), {"every": 2}, "its milestones are of the 8 epochs"),
        ("linear(320)", {"ranks": 2}, "is made for 320, as many as its 2 ranks make together"),
        ("lr_scheduler.CosineAnnealingLR(optimizer, 640)", {"ranks": 4}, "is made for 640, as many as its 4 ranks"),
        ("linear(160)", {"every": 4}, "is made for 160, the batches of the run, of which 4 make one step"),
    ],
)
def test_a_schedule_that_counts_something_else_than_steps_is_told(
    watch_warm: Callable[..., Any], scheduler: str, fields: dict[str, Any], said: str
) -> None:
    found = told(watch_warm, scheduler, step=EACH, **fields)
    assert found is not None
    assert found.failure_class == "wrong-schedule"
    assert said in found.finding.title
    assert "main.py:11" in found.locations


@pytest.mark.parametrize(
    ("scheduler", "fields"),
    [
        pytest.param(MILESTONES.format("[4, 6]"), {"after": EACH}, id="milestones of epochs, once an epoch"),
        pytest.param(MILESTONES.format("[80, 120]"), {"step": EACH}, id="milestones of steps"),
        pytest.param(MILESTONES.format("[10], gamma=10.0"), {"step": EACH}, id="a warm-up of ten steps"),
        pytest.param(MILESTONES.format("[10, 15]"), {"step": EACH}, id="early ones of no epoch"),
        pytest.param("linear(160)", {"step": EACH}, id="of its own steps"),
        pytest.param("linear(160)", {"step": EACH, "ranks": 2}, id="of one rank's steps"),
        pytest.param("linear(500)", {"step": EACH, "ranks": 2}, id="longer than the run"),
        pytest.param("linear(320)", {"step": EACH}, id="ended at the half, on one rank"),
        pytest.param("linear(40)", {"step": EACH, "every": 4}, id="of the steps over several batches"),
    ],
)
def test_a_schedule_of_the_steps_is_left_alone(
    watch_warm: Callable[..., Any], scheduler: str, fields: dict[str, Any]
) -> None:
    assert told(watch_warm, scheduler, **fields) is None
