"""A schedule that no step of the run moves is told; those that are moved, wait, or are set by hand are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.schedules import schedule_unused
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import torch
    from torch.optim import lr_scheduler
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    loader = DataLoader(TensorDataset(torch.randn(80, 4)), 4, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    cosine = lr_scheduler.CosineAnnealingLR
    scheduler = {scheduler}
    stepped = False
    for epoch in range({epochs}):
        for number, (x,) in enumerate(loader):
            optimizer.zero_grad(); model(x).pow(2).mean().backward(); optimizer.step()
            {step}
        {after}
"""
NEVER = "if stepped: scheduler.step()"


def told(watch: Callable[..., Any], scheduler: str, epochs: int = 4, step: str = "pass", after: str = NEVER) -> Any:
    run = watch(PROGRAM.format(scheduler=scheduler, epochs=epochs, step=step, after=after))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return schedule_unused.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("scheduler", "kind"),
    [
        ("cosine(optimizer, T_max=4)", "CosineAnnealingLR"),
        ("lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5 ** epoch)", "LambdaLR"),
        ("lr_scheduler.SequentialLR(optimizer, [lr_scheduler.ConstantLR(optimizer, 1.0), cosine(optimizer, 4)], [2])",
         "CosineAnnealingLR"),
    ],
)  # fmt: skip
def test_a_schedule_that_is_never_stepped_is_told(watch_warm: Callable[..., Any], scheduler: str, kind: str) -> None:
    found: Match | None = told(watch_warm, scheduler)
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.finding.confidence) == (
        "wrong-schedule", (0,), Confidence.LIKELY,
    )  # fmt: skip
    assert [one.rpartition(":")[2] for one in found.locations[:2]] == ["16", "10"]
    assert found.finding.title.startswith(f"{kind} of ")
    assert found.finding.title.endswith("is never stepped: the learning rate stays at 0.01 in all 80 steps")


@pytest.mark.parametrize(
    ("scheduler", "fields"),
    [
        pytest.param("cosine(optimizer, T_max=4)", {"after": "scheduler.step()"}, id="with each epoch"),
        pytest.param("cosine(optimizer, T_max=80)", {"step": "scheduler.step()"}, id="with each step"),
        pytest.param("cosine(optimizer, T_max=4)", {"after": "if epoch: scheduler.step()"}, id="later than the first"),
        pytest.param("cosine(optimizer, T_max=4)", {"epochs": 2}, id="two epochs"),
        pytest.param(
            "cosine(optimizer, T_max=4)", {"step": "optimizer.param_groups[0]['lr'] = 0.005"}, id="a rate set by hand"
        ),
        pytest.param(
            "lr_scheduler.SequentialLR(optimizer, [lr_scheduler.ConstantLR(optimizer, 1.0, 9), cosine(optimizer, 4)], "
            "[9])",
            {"after": "scheduler.step()"},
            id="one that waits for its turn",
        ),
        pytest.param(
            "(cosine(optimizer, 9), cosine(optimizer, 4))[1]", {"after": "scheduler.step()"}, id="another in its place"
        ),
        pytest.param("None", {"after": "pass"}, id="none"),
    ],
)
def test_a_schedule_that_is_moved_is_left_alone(
    watch_warm: Callable[..., Any], scheduler: str, fields: dict[str, Any]
) -> None:
    assert told(watch_warm, scheduler, **fields) is None
