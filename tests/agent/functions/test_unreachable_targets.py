"""Trainings whose CTC loss leaves out many samples are told; those with frames enough, and evaluations, are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.updates import targets_out_of_reach

PROGRAM = """
    import torch
    from torch import nn
    torch.manual_seed(0)
    net = nn.Linear(4, 6)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    criterion = nn.CTCLoss(zero_infinity={zeroes})
    labels = torch.randint(1, 6, (8, 9))
    frames = {frames}
    lengths = {lengths}
    def loss_of(net):
        scores = net(torch.randn(12, 8, 4)).log_softmax(-1)
        return criterion(scores, labels, frames, lengths)
    for _ in range(20):
        {learn}
"""
LEARN = "optimizer.zero_grad(); loss_of(net).backward(); optimizer.step()"
OTHER = "optimizer.zero_grad(); net(torch.randn(2, 4)).sum().backward(); optimizer.step()"
EVALUATE = OTHER + "; torch.no_grad()(loss_of)(net).item()"
FRAMES, SHORT, ENOUGH = "torch.full((8,), 6)", "torch.tensor([9, 9, 8, 4, 4, 4, 5, 3])", "torch.full((8,), 4)"


def told(watch: Callable[..., Any], **parts: str) -> Match | None:
    run = watch(PROGRAM.format(**parts))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return targets_out_of_reach.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("frames", "lengths"),
    [
        (FRAMES, SHORT),
        ("torch.full((8,), 6, dtype=torch.int32)", SHORT + ".int()"),
        ("(6,) * 8", "tuple([9, 9, 8, 4, 4, 4, 5, 3])"),
    ],
)
def test_samples_with_fewer_frames_than_labels_are_counted(
    watch_warm: Callable[..., Any], frames: str, lengths: str
) -> None:
    found = told(watch_warm, zeroes="True", frames=frames, lengths=lengths, learn=LEARN)
    assert found is not None
    assert (found.failure_class, found.finding.title) == (
        "gradients-lost",
        "The CTC loss at main.py:13 leaves out 38% of the samples: they have more labels than frames, which "
        "zero_infinity turns into a loss and a gradient of 0",
    )


@pytest.mark.parametrize(
    ("zeroes", "frames", "lengths", "learn"),
    [
        ("True", FRAMES, ENOUGH, LEARN),  # all fit
        ("False", FRAMES, ENOUGH, LEARN),
        ("True", FRAMES, SHORT, OTHER),  # none is taken
        ("True", FRAMES, SHORT, EVALUATE),
    ],
)
def test_losses_whose_samples_fit_or_that_nothing_learns_from_are_not_told(
    watch_warm: Callable[..., Any], zeroes: str, frames: str, lengths: str, learn: str
) -> None:
    assert told(watch_warm, zeroes=zeroes, frames=frames, lengths=lengths, learn=learn) is None
