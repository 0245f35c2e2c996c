"""A schedule of all steps that is stepped once an epoch is told; one of the epochs, or one that keeps up, is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.schedules import schedule_too_slow
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import torch
    from torch.optim import lr_scheduler
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    model, epochs, every = torch.nn.Linear(4, 1), 6, {every}
    loader = DataLoader(TensorDataset(torch.randn(80, 4)), 4, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    def linear(total):
        return lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / total))
    def warm_up(warm, rest):
        parts = [lr_scheduler.LinearLR(optimizer, total_iters=warm), lr_scheduler.CosineAnnealingLR(optimizer, rest)]
        return lr_scheduler.SequentialLR(optimizer, parts, [warm])
    scheduler = {scheduler}
    count = 0
    for epoch in range({ends}):
        for number, (x,) in enumerate({batches}):
            model(x).pow(2).mean().backward()
            if number % every == every - 1:
                optimizer.step(); optimizer.zero_grad(); count += 1
                {step}
        {after}
"""
EACH = "scheduler.step()"
ONE_CYCLE = "lr_scheduler.OneCycleLR(optimizer, 0.1, epochs=epochs, steps_per_epoch=len(loader))"
COSINE = "lr_scheduler.CosineAnnealingLR(optimizer, T_max={})"
BY_HAND = "torch.randn(20, 1, 4, 4)"


def told(watch: Callable[..., Any], scheduler: str, **fields: Any) -> Match | None:
    parts = {"step": "pass", "after": "pass", "ends": "epochs", "every": 1, "batches": "loader", **fields}
    run = watch(PROGRAM.format(scheduler=scheduler, **parts))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return schedule_too_slow.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("scheduler", "kind", "fields"),
    [
        (ONE_CYCLE, "OneCycleLR", {"after": EACH}),
        (COSINE.format("epochs * len(loader)"), "CosineAnnealingLR", {"after": EACH}),
        ("linear(epochs * len(loader))", "LambdaLR", {"after": EACH, "batches": BY_HAND}),
        (ONE_CYCLE, "OneCycleLR", {"after": EACH, "every": 2}),  # and counted in micro-batches
        (COSINE.format("epochs * 20"), "CosineAnnealingLR", {"step": "if count % 10 == 0: scheduler.step()"}),
    ],
)
def test_a_schedule_of_all_steps_that_is_stepped_far_more_rarely_is_told(
    watch_warm: Callable[..., Any], scheduler: str, kind: str, fields: dict[str, Any]
) -> None:
    found = told(watch_warm, scheduler, **fields)
    assert found is not None
    assert (found.failure_class, found.finding.confidence) == ("wrong-schedule", Confidence.LIKELY)
    assert found.locations[0] == ("main.py:22" if "after" in fields else "main.py:21")
    assert found.finding.title.startswith(f"{kind} of main.py:")
    assert " is made for 120 steps and was stepped " in found.finding.title


@pytest.mark.parametrize(
    ("scheduler", "fields"),
    [
        pytest.param(ONE_CYCLE, {"step": EACH}, id="with each step"),
        pytest.param(COSINE.format("epochs"), {"after": EACH}, id="of the epochs"),
        pytest.param(COSINE.format("40"), {"after": EACH}, id="longer than the run"),
        pytest.param(COSINE.format("120"), {"step": EACH, "every": 2}, id="of the batches, with each step"),
        pytest.param(COSINE.format("2 * epochs * len(loader)"), {"step": EACH}, id="ended early"),
        pytest.param("linear(200)", {"after": EACH}, id="of more epochs than were made"),
        pytest.param("lr_scheduler.StepLR(optimizer, 120)", {"after": EACH}, id="without an end"),
        pytest.param("warm_up(2, 4)", {"after": EACH}, id="a warm-up of epochs"),
        pytest.param("warm_up(20, 100)", {"step": EACH}, id="a warm-up of steps"),
        pytest.param("lr_scheduler.ExponentialLR(optimizer, 0.9)", {"after": EACH}, id="a decay"),
    ],
)
def test_a_schedule_that_keeps_up_with_the_run_is_left_alone(
    watch_warm: Callable[..., Any], scheduler: str, fields: dict[str, Any]
) -> None:
    assert told(watch_warm, scheduler, **fields) is None
