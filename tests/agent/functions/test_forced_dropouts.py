"""Dropout that goes on in evaluation since nobody told the function is told; what is asked for is not: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.randomness import dropout_in_evaluation
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import torch
    from torch import nn
    from torch.nn import functional as F
    from torch.nn.functional import dropout
    torch.manual_seed(0)
    class Net(nn.Module):
        p = 0.5
        def __init__(self):
            super().__init__()
            self.inner, self.outer, self.drop = nn.Linear(4, 8), nn.Linear(8, 1), nn.Dropout(0.5)
        def forward(self, x):
            h = self.inner(x).relu()
            h = {drop}
            return self.outer(h)
        def attended(self, h, p):
            h = h.view(-1, 1, 2, 4)
            return F.scaled_dot_product_attention(h, h, h, dropout_p=p).flatten(1)
    net = {make}
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    x, y = torch.randn(16, 4), torch.randn(16, 1)
    def validate():
        net.eval()
        with torch.no_grad():
            for _ in range(3):
                net(x)
        net.train()
    for epoch in range(6):
        for step in range(5):
            optimizer.zero_grad(); (net(x) - y).pow(2).mean().backward(); optimizer.step()
        {around}validate()
"""
FORGOTTEN = "is called without training=, which is True by default"


def told(watch: Callable[..., Any], drop: str, around: str = "", make: str = "Net()") -> Match | None:
    run = watch(PROGRAM.format(drop=drop, around=around, make=make))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return dropout_in_evaluation.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("drop", "said"),
    [
        ("F.dropout(h, p=self.p)", f"F.dropout at main.py:14 {FORGOTTEN}"),
        ("dropout(h)", f"F.dropout at main.py:14 {FORGOTTEN}"),
        ("nn.functional.dropout1d(h, 0.2)", f"F.dropout at main.py:14 {FORGOTTEN}"),
        (
            "self.attended(h, self.p)",
            "scaled_dot_product_attention at main.py:18 is given a dropout_p above 0",
        ),
    ],
)
def test_dropout_that_goes_on_in_evaluation_is_told(watch_warm: Callable[..., Any], drop: str, said: str) -> None:
    found = told(watch_warm, drop)
    assert found is not None
    assert (found.failure_class, found.finding.title) == ("wrong-mode", f"Net drops in eval mode: {said}")


@pytest.mark.parametrize(
    ("drop", "around", "make"),
    [
        ("F.dropout(h, self.p, self.training)", "", "Net()"),
        ("F.dropout(h, p=self.p, training=True)", "", "Net()"),
        ("F.dropout(h, 0.0)", "", "Net()"),
        ("F.alpha_dropout(h, self.p)", "", "Net()"),  # off by default
        ("self.drop(h)", "", "Net()"),
        ("F.dropout(h, self.p) if torch.is_grad_enabled() else h", "", "Net()"),
        ("F.dropout(h, self.p) if self.training else h", "", "Net()"),
        ("F.dropout(h, self.p)", "0 and ", "Net()"),  # never evaluated
        ("self.attended(h, self.p if self.training else 0.0)", "", "Net()"),
        ("F.dropout(h, 0.5)", "", "torch.jit.script(Net())"),
    ],
)
def test_dropout_that_is_asked_for_or_off_in_evaluation_is_no_fault(
    watch_warm: Callable[..., Any], drop: str, around: str, make: str
) -> None:
    assert told(watch_warm, drop, around, make) is None
