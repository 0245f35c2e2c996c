"""Targets that predictions cannot be, and targets of 0 in place of -1, are told; those in reach, and masks, are not."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.losses import targets_outside, targets_unsigned
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import torch
    import torch.nn.functional as F
    from torch import nn
    torch.manual_seed(0)
    {model}
    target = {target}
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    for _ in range(24):
        x = torch.randn(32, 4)
        optimizer.zero_grad()
        loss = {loss}
        loss.backward(); optimizer.step()
"""
MIXED = "torch.randn(32, 1)"
UP_TO_RELU = "net = nn.Sequential(*[one for _ in range(2) for one in (nn.Linear(4, 4), nn.ReLU())], nn.Linear(4, 1){})"
MSE = "F.mse_loss(net(x), target)"
PAIRS = "net = nn.Linear(4, 8)"
COSINE = "nn.CosineEmbeddingLoss()(net(x), net(x.flip(0)), target)"


def told(signature: ModuleType, watch: Callable[..., Any], **parts: str) -> Match | None:
    run = watch(PROGRAM.format(**parts))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    found: Match | None = signature.match(a_job(process, code=0, cwd=run.script.parent))
    return found


@pytest.mark.parametrize(
    ("last", "target", "loss", "word"),
    [
        (", nn.ReLU()", MIXED, MSE, "ReLU"),
        (", nn.Sigmoid()", "torch.rand(32, 1) * 255", "nn.SmoothL1Loss()(net(x), target)", "sigmoid"),
        (", nn.Tanh()", "3 * torch.randn(32, 1)", "nn.L1Loss()(net(x), target)", "tanh"),
        (", nn.ReLU6()", "torch.rand(32) * 100", "F.huber_loss(net(x).squeeze(1), target)", "clamp"),
        (", nn.SiLU()", MIXED, "F.mse_loss(net(x), target, reduction='sum')", "SiLU"),
    ],
)
def test_targets_that_the_last_function_never_gives_are_told(
    watch_warm: Callable[..., Any], last: str, target: str, loss: str, word: str
) -> None:
    found = told(targets_outside, watch_warm, model=UP_TO_RELU.format(last), target=target, loss=loss)
    assert found is not None
    assert (found.failure_class, found.culprit_ranks) == ("wrong-loss", (0,))
    assert "main.py:12" in found.locations
    assert f": the predictions come out of a {word}, which gives " in found.finding.title


@pytest.mark.parametrize(
    ("last", "target", "loss"),
    [
        pytest.param("", MIXED, MSE, id="a layer at the end"),
        pytest.param(", nn.ReLU()", "torch.rand(32, 1)", MSE, id="targets in reach"),
        pytest.param(", nn.Sigmoid()", "(torch.rand(32, 1) > 0.5).float()", MSE, id="at the limits"),
        pytest.param(", nn.ReLU()", "torch.rand(32, 1) * 4 + 0.2 * torch.randn(32, 1)", MSE, id="noise at the limit"),
        pytest.param(", nn.Tanh()", "torch.linspace(-1, 1.2, 32).view(32, 1)", MSE, id="a few above"),
        pytest.param(", nn.ReLU()", MIXED, "F.mse_loss(net(x) * 2 - 1, target)", id="scaled behind it"),
        pytest.param(
            ", nn.ReLU()", MIXED, "(F.mse_loss(net(x), target, reduction='none') * (target > 0)).mean()", id="masked"
        ),
        pytest.param(", nn.LeakyReLU()", MIXED, MSE, id="a function that gives all"),
    ],
)
def test_targets_in_reach_are_left_alone(watch_warm: Callable[..., Any], last: str, target: str, loss: str) -> None:
    assert told(targets_outside, watch_warm, model=UP_TO_RELU.format(last), target=target, loss=loss) is None


@pytest.mark.parametrize(
    ("target", "loss", "function"),
    [
        ("(torch.rand(32) > 0.5).float()", COSINE, "cosine_embedding_loss"),
        ("torch.arange(32) % 2", "F.margin_ranking_loss(net(x)[:, 0], net(x)[:, 1], target)", "margin_ranking_loss"),
        ("(torch.arange(32) % 2).float()", "F.soft_margin_loss(net(x)[:, 0], target)", "soft_margin_loss"),
        ("torch.arange(32) % 2", "nn.HingeEmbeddingLoss()(net(x).norm(dim=1), target)", "hinge_embedding_loss"),
    ],
)
def test_targets_of_0_where_minus_1_is_meant_are_told(
    watch_warm: Callable[..., Any], target: str, loss: str, function: str
) -> None:
    found = told(targets_unsigned, watch_warm, model=PAIRS, target=target, loss=loss)
    assert found is not None
    assert (found.failure_class, found.locations[0]) == ("wrong-loss", "main.py:12")
    assert found.finding.title.startswith(f"{function} at main.py:12 is given 1 and 0 where it knows 1 and -1: ")


@pytest.mark.parametrize(
    ("target", "loss"),
    [
        ("(torch.rand(32) > 0.5).float() * 2 - 1", COSINE),
        ("torch.ones(32)", COSINE),  # pairs that belong together alone
        ("torch.arange(32) % 3 - 1", COSINE),  # 0 leaves a pair out
        ("(torch.arange(32) % 2).float()", "F.binary_cross_entropy_with_logits(net(x)[:, 0], target)"),
    ],
)
def test_targets_with_their_sign_are_left_alone(watch_warm: Callable[..., Any], target: str, loss: str) -> None:
    assert told(targets_unsigned, watch_warm, model=PAIRS, target=target, loss=loss) is None
