"""Predictions of one column that meet a row of targets are marked, whatever the arithmetic: real runs."""

from __future__ import annotations

import pytest

from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import LossSpread

HEAD = """
    import torch, warnings
    from torch import nn
    from torch.nn import functional as F
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    x, y, w = torch.randn(8, 4), torch.randn(8), torch.rand(8)
    old, sign, action = torch.randn(8), torch.randn(8).sign(), torch.zeros(8, 1, dtype=torch.long)
    net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
    pi, two = nn.Linear(4, 3), nn.Linear(4, 2)
    optimizer = torch.optim.SGD([one for part in (net, pi, two) for one in part.parameters()], lr=1e-3)
    def train(*losses, count=24):
        for _ in range(count):
            for loss in losses:
                optimizer.zero_grad(); loss().backward(); optimizer.step()
"""


def _marks(watch, source: str) -> tuple[LossSpread, ...]:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind in ("no-prints", "no-marks")] == []
    return run.record.prints.get(agent.name[len("agent-") : -len(".bin")], ParameterPrints()).marks_of(LossSpread)


SPREAD = {
    "a clipped value beside a policy": (
        """
    def value_loss(value):
        clipped = old + (value - old).clamp(-0.2, 0.2)
        return 0.5 * torch.max((value - y).square(), (clipped - y).square()).mean()
    def loss():
        pick = torch.distributions.Categorical(logits=pi(x)); ratio = (pick.log_prob(action[:, 0]) - w).exp()
        gain = torch.min(ratio * w, ratio.clamp(0.8, 1.2) * w).mean()
        return value_loss(net(x)) - gain - 0.01 * pick.entropy().mean()
    train(loss)
""",
        "SubBackward0",
    ),
    "a value that was gathered": (
        "\n    train(lambda: F.smooth_l1_loss(pi(x).gather(1, action), y))\n",
        "SmoothL1LossBackward0",
    ),
    "l1_loss": ("\n    train(lambda: F.l1_loss(net(x), y))\n", "L1LossBackward0"),
    "a margin": ("\n    train(lambda: F.relu(1 - net(x) * sign).mean())\n", "MulBackward0"),
    "cross entropy by hand": (
        """
    hot = (sign > 0).float()
    def loss():
        chance = net(x).sigmoid()
        return -(hot * chance.log() + (1 - hot) * (1 - chance).log()).mean()
    train(loss)
""",
        "MulBackward0",
    ),
    "quantiles": (
        "\n    def loss(): e = y - net(x); return torch.maximum(0.9 * e, -0.1 * e).mean()\n    train(loss)\n",
        "SubBackward0",
    ),
    "a mean and a variance of one layer": (
        """
    def loss():
        mean, log_var = two(x).chunk(2, dim=-1)
        return ((mean - y) ** 2 * torch.exp(-log_var) + log_var).mean()
    train(loss)
""",
        "SubBackward0",
    ),
    "a mean for each sample, which are weighted": (
        "\n    train(lambda: (((net(x) - y) ** 2).mean(-1) * w).sum())\n",
        "SubBackward0",
    ),
    "the first of two losses that take turns": (
        "\n    train(lambda: (net(x) - y).abs().mean(), lambda: pi(x).square().mean())\n",
        "SubBackward0",
    ),
}


@pytest.mark.parametrize("how", SPREAD)
def test_a_column_that_meets_a_row_is_marked_with_its_function(watch_warm, how: str) -> None:
    source, function = SPREAD[how]
    marks = _marks(watch_warm, source)
    assert [(one.run, one.given, one.made, one.function) for one in marks] == [
        (run, (8, 1), (8, 8), function) for run in range(1, len(marks) + 1)
    ]
    assert len(marks) >= 2
    assert all(one.path for one in marks)


ADVANTAGES = """
    critic = nn.Linear(4, 1)
    def kept(): return torch.distributions.Categorical(logits=pi(x)).log_prob(action[:, 0])
"""
WEIGHED = {
    "an advantage of a row and a column": """
    train(lambda: -(kept() * (y - critic(x).detach())).mean() + 0.5 * (critic(x).squeeze(1) - y).pow(2).mean())
""",
    "a normalised advantage, clipped as PPO does": """
    def loss():
        gain = (y - critic(x).detach()); gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        ratio = (kept() - w).exp()
        return -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
    train(loss)
""",
    "a weight that is a column": """
    train(lambda: -0.5 * (kept() * critic(x).detach()).sum() / 8)
""",
    "a gaussian policy": """
    def loss():
        mean = two(x); log_prob = torch.distributions.Normal(mean, 1.0).log_prob(torch.ones(8, 2)).sum(-1)
        return -(log_prob * (y + 0.9 * critic(x).detach() - critic(x).detach())).mean()
    train(loss)
""",
}


@pytest.mark.parametrize("how", WEIGHED)
def test_terms_that_meet_the_weights_of_all_samples_are_marked(watch_warm, how: str) -> None:
    marks = _marks(watch_warm, ADVANTAGES + WEIGHED[how])
    assert len(marks) >= 2
    assert {(one.given, one.made, one.function) for one in marks} == {((8,), (8, 8), "MulBackward0")}


MEANT = {
    "a weight for each term": ADVANTAGES
    + """
    def loss():
        gain = y - critic(x).detach().squeeze(1)
        return -(kept() * gain).mean() - (kept()[:, None] * gain[:, None]).mean() - (
            two(x).log_softmax(-1) * gain[:, None]).mean()
    train(loss)
""",
    "gains of all steps that follow": ADVANTAGES
    + """
    later = torch.ones(8, 8).tril() * y[:, None]
    train(lambda: -(kept() * later).sum() / 8)
""",
    "a kernel of places, a table of its own, a term that is no mean": ADVANTAGES
    + """
    place = torch.arange(8.0); table = torch.randn(8, 8)
    train(lambda: (kept() * (place - place[:, None])).mean() + (kept() * table).mean()
        + (kept() * (y - w[:, None])).exp().mean() + (kept()[:, None] * w).mean())
""",
    "columns against columns, rows against rows": """
    def loss():
        v = net(x); row = v.squeeze(1); e = y[:, None] - v
        return F.mse_loss(v, y[:, None]) + (row - y).abs().mean() + torch.maximum(0.9 * e, -0.1 * e).mean() + (
            F.relu(1 - row * sign).mean() + F.smooth_l1_loss(pi(x).gather(1, action).squeeze(1), y))
    train(loss)
""",
    "pairs that are ranked": """
    def loss():
        v = net(x); above = torch.sign(y[:, None] - y)
        return F.relu(1 - (v - v.t()) * above).mean() + F.softplus(-(v - v.squeeze(1)) * above).mean()
    train(loss)
""",
    "an energy distance": """
    def loss():
        v = net(x)
        return 2 * (v - y[None]).abs().mean() - (v - v.t()).abs().mean()
    train(loss)
""",
    "quantiles of each sample against each other": """
    def loss():
        q = pi(x); e = q[:, None, :] - q.detach()[:, :, None]
        return (e.abs() * (0.5 - (e.detach() < 0).float()).abs()).mean()
    train(loss)
""",
    "distances to all others": """
    def loss(): v = net(x); return (v[:, None, :] - v[None]).square().sum(-1).mean() + (v @ v.t()).square().mean()
    train(loss)
""",
    "attention over as many as there are features": """
    train(lambda: ((two(x) @ two(x).t()).softmax(-1) * torch.ones(8, 8).tril()).square().mean())
""",
    "a column times a table, and a row that is decoded against one": """
    table, series = torch.randn(8, 8), torch.randn(8, 8)
    def loss(): v = net(x); return (v * table).square().mean() + (v * w - series).square().mean() + F.mse_loss(
        v.expand(8, 8), series)
    train(loss)
""",
    "one level for as many points as there are samples": """
    series = torch.randn(8, 8)
    def loss(): v = net(x); return (v - series).square().mean() + F.l1_loss(v, series) + (series - v).abs().mean()
    train(loss)
""",
    "a prediction that was given another dimension": """
    train(lambda: (net(x).squeeze(1)[:, None] - y).abs().mean())
""",
}


@pytest.mark.parametrize("how", MEANT)
def test_pairs_that_are_meant_are_not_marked(watch_warm, how: str) -> None:
    assert _marks(watch_warm, MEANT[how]) == ()
