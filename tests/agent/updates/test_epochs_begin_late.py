"""Trainings that leave out the first batches of each epoch are told; those that do it once are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.loading import epochs_begin_late
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import itertools
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    net = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    loader = DataLoader(TensorDataset(torch.randn(48, 4)), 4, shuffle=True)
    resume = 5
    for epoch in range(3):
        batches = {batches}
        for number, (x,) in enumerate(batches):
            if {skipped}:
                continue
            optimizer.zero_grad(); net(x).pow(2).mean().backward(); optimizer.step()
        {after}
"""
WHOLE, REST = "loader", "itertools.islice(iter(loader), resume, None)"


def told(watch: Callable[..., Any], **parts: str) -> Match | None:
    run = watch(PROGRAM.format(**parts))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    process = a_process(agent=agent, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return epochs_begin_late.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(("batches", "skipped", "line"), [(REST, "False", 12), (WHOLE, "number < resume", 14)])
def test_batches_that_each_epoch_skips_are_told(
    watch_warm: Callable[..., Any], batches: str, skipped: str, line: int
) -> None:
    found = told(watch_warm, batches=batches, skipped=skipped, after="pass")
    assert found is not None
    assert found.finding.title == (
        f"Each epoch leaves out its first 5 of 12 batches, by main.py:{line}: what one interrupted epoch had done is "
        "skipped in all that follow"
    )


@pytest.mark.parametrize(
    ("batches", "skipped", "after"),
    [
        (REST, "False", "resume = 0"),
        (WHOLE, "epoch == 0 and number < resume", "pass"),
        (WHOLE, "number % 2", "pass"),  # every other one, on purpose
        (WHOLE, "False", "pass"),
    ],
)
def test_an_epoch_that_is_gone_on_with_is_not_told(
    watch_warm: Callable[..., Any], batches: str, skipped: str, after: str
) -> None:
    assert told(watch_warm, batches=batches, skipped=skipped, after=after) is None
