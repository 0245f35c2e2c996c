"""Trainings whose CTC loss is given its own blank are told; blanks behind a row's end, and evaluations, are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.losses import blank_among_targets
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import torch
    import torch.nn.functional as F
    from torch import nn
    torch.manual_seed(0)
    net = nn.Linear(4, 6)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    criterion = {criterion}
    lengths = torch.tensor([3, 4, 2, 4, 3, 4, 4, 4])
    labels = {labels}
    frames = torch.full((8,), 12)
    def loss_of(net):
        scores = net(torch.randn(12, 8, 4)).log_softmax(-1)
        return criterion(scores, labels, frames, lengths)
    for _ in range(20):
        {learn}
"""
LEARN = "optimizer.zero_grad(); loss_of(net).backward(); optimizer.step()"
OTHER = "optimizer.zero_grad(); net(torch.randn(2, 4)).sum().backward(); optimizer.step()"
EVALUATE = OTHER + "; torch.no_grad()(loss_of)(net).item()"
MODULE, LAST = "nn.CTCLoss(zero_infinity=True)", "nn.CTCLoss(blank=5)"
FUNCTION = "lambda *given: F.ctc_loss(*given, blank=0)"
FROM_ZERO = "torch.arange(32).view(8, 4) % 5"
PADDED = "torch.tensor([[1, 2, 3, 0], [1, 2, 3, 4], [4, 3, 0, 0], [1, 2, 3, 4], [2, 1, 3, 0]] + 3 * [[4, 2, 1, 3]])"


def told(watch: Callable[..., Any], **parts: str) -> Match | None:
    run = watch(PROGRAM.format(**parts))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return blank_among_targets.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("criterion", "labels", "blank", "line"),
    [
        (MODULE, FROM_ZERO, 0, 14),  # padded rows
        (FUNCTION, "(torch.arange(28) % 5).int()", 0, 8),  # one after the other
        (LAST, "torch.arange(32).view(8, 4) % 6", 5, 14),
    ],
)
def test_a_letter_with_the_number_of_the_blank_is_told(
    watch_warm: Callable[..., Any], criterion: str, labels: str, blank: int, line: int
) -> None:
    found = told(watch_warm, criterion=criterion, labels=labels, learn=LEARN)
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations[0]) == ("wrong-loss", (0,), f"main.py:{line}")
    assert f" of the labels given to the CTC loss at main.py:{line} are {blank}, its blank:" in found.finding.title


@pytest.mark.parametrize(
    ("criterion", "labels", "learn"),
    [
        (MODULE, "1 + " + FROM_ZERO, LEARN),
        (LAST, FROM_ZERO, LEARN),  # the blank comes last
        (MODULE, PADDED, LEARN),  # behind the ends of rows
        (MODULE, FROM_ZERO, EVALUATE),
        (MODULE, FROM_ZERO, OTHER),
    ],
)
def test_letters_with_numbers_of_their_own_and_padding_are_left_alone(
    watch_warm: Callable[..., Any], criterion: str, labels: str, learn: str
) -> None:
    assert told(watch_warm, criterion=criterion, labels=labels, learn=learn) is None
