"""That losses are marked which are given probabilities for logits, and no others are: real graphs."""

from __future__ import annotations

import pytest

from diagnostics.record.marks.loss_marks import LossSquashed

PROGRAM = """
    import torch
    from torch import nn
    from torch.nn import functional as F
    torch.manual_seed(0)
    net, attention = nn.Linear(4, 3), nn.Linear(4, 4)
    x, y, both = torch.randn(6, 4), torch.arange(6) % 3, torch.rand(6, 3).round()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    def divergence(given, wanted):
        return F.kl_div(given, wanted, reduction="sum")
    def loss_of():
        return {loss}
    for step in range(24):
        optimizer.zero_grad()
        ({around}).backward()
        optimizer.step()
"""
SOFT, SIGMOID = "SoftmaxBackward0", "SigmoidBackward0"
LOG, NLL, BINARY = "LogSoftmaxBackward0", "NllLossBackward0", "BinaryCrossEntropyWithLogitsBackward0"
FAULTY = {
    "F.cross_entropy(net(x).softmax(-1), y)": (SOFT, LOG),
    "F.cross_entropy(F.softmax(net(x), dim=1), y, label_smoothing=0.1)": (SOFT, LOG),
    "nn.CrossEntropyLoss()(net(x).view(2, 3, 3).softmax(-1).view(6, 3), y)": (SOFT, LOG),
    "F.cross_entropy(net(x).view(2, 3, 3).softmax(1), y.view(2, 3))": (SOFT, LOG),
    "F.binary_cross_entropy_with_logits(torch.sigmoid(net(x)), both)": (SIGMOID, BINARY),
    "F.binary_cross_entropy_with_logits(net(x).softmax(1), both)": (SOFT, BINARY),
    "F.nll_loss(F.log_softmax(net(x), dim=0), y)": (LOG, NLL),
    "F.nll_loss(net(x) + 9 - 9, y)": None,
    "F.nll_loss(net(x), y)": ("LayerBackward", NLL),
    "F.kl_div((net(x) / 4).softmax(1), both, reduction='batchmean')": (SOFT, "kl_div"),
    "nn.KLDivLoss(reduction='sum')(net(x).sigmoid().view(18), both.view(18))": (SIGMOID, "kl_div"),
    "F.kl_div(input=net(x), target=both, reduction='batchmean')": ("LayerBackward", "kl_div"),
}
HEALTHY = [
    "F.cross_entropy(net(x), y)",
    "F.nll_loss(F.log_softmax(net(x), dim=1), y)",
    "F.nll_loss(net(x).softmax(1).log(), y)",
    "F.cross_entropy(net(x).softmax(1) / 0.05, y)",
    "F.cross_entropy(net(attention(x).softmax(1) * x), y)",
    "F.cross_entropy(net(x).softmax(0), y)",
    "F.binary_cross_entropy(net(x).sigmoid(), both)",
    "F.binary_cross_entropy_with_logits(net(x.sigmoid()), both)",
    "F.mse_loss(net(x).softmax(1), both)",
    "F.cross_entropy(net(x), net(x).detach().softmax(1))",
    "F.kl_div(F.log_softmax(net(x), 1), net(x).detach().softmax(1), reduction='batchmean')",
    "nn.KLDivLoss(reduction='batchmean')((net(x).softmax(1) + 1e-8).log(), both)",
    "F.kl_div(F.logsigmoid(net(x)), both, reduction='sum')",
    "F.cross_entropy(net(x), y) + 0 * F.kl_div(net(x).detach().softmax(1), both, reduction='sum')",
    "torch.jit.script(divergence)(net(x).log_softmax(1), both)",
    "F.kl_div(-F.relu(net(x)), both, reduction='sum')",
]


def marked(run) -> tuple[LossSquashed, ...]:
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    return run.record.prints[agent.name[len("agent-") : -len(".bin")]].marks_of(LossSquashed)


@pytest.mark.parametrize("loss", [loss for loss, told in FAULTY.items() if told])
def test_a_loss_that_is_given_what_it_does_not_take_is_marked(loss: str, watch_warm) -> None:
    found = marked(watch_warm(PROGRAM.format(loss=loss, around="0.5 * loss_of() + 0.1 * net.weight.pow(2).mean()")))
    assert [(one.given, one.taken) for one in found[:1]] == [FAULTY[loss]]


@pytest.mark.parametrize("loss", [*HEALTHY, *(loss for loss, told in FAULTY.items() if not told)])
def test_a_loss_that_is_given_what_it_takes_is_not(loss: str, watch_warm) -> None:
    assert marked(watch_warm(PROGRAM.format(loss=loss, around="loss_of()"))) == ()
