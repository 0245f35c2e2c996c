"""That a loss is marked to which the number of another one was added, and that others are not: real graphs."""

from __future__ import annotations

import pytest

from diagnostics.record.marks.loss_marks import LossConstant

PROGRAM = """
    import torch
    from torch import nn
    from torch.nn import functional as F
    torch.manual_seed(0)
    net, head, x, y = nn.Linear(4, 3), nn.Linear(3, 1), torch.randn(6, 4), torch.arange(6) % 3
    optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
    def train():
        logged = 0.0
        for step in range(24):
            optimizer.zero_grad()
            hidden = net(x)
            main, aux = F.cross_entropy(hidden, y), head(hidden).pow(2).mean()
            {lines}
            optimizer.step()
    train()
"""
FAULTY = {
    "loss = main + 0.1 * aux.item(); loss.backward()": "aux",
    "loss = main + float(aux.detach()); (loss / 2).backward()": "aux",
    "main += aux.item(); main.backward()": "aux",
    "loss = 0; loss = loss + main; loss = loss - aux.item(); torch.amp.GradScaler('cpu', enabled=False)"
    ".scale(loss).backward()": "aux",
}
HEALTHY = [
    "loss = main + 0.1 * aux; loss.backward()",
    "loss = sum([main, aux]); loss.backward()",
    "loss = 0; loss = loss + main; loss += aux; loss.backward()",
    "loss = main + aux; logged += loss.item() + aux.item(); loss.backward()",
    "loss = main + 1e-6; aux = aux.item(); loss.backward()",
    "mean = aux.mean(); loss = 0 + main + aux; loss.backward()",
]


def marked(run) -> tuple[LossConstant, ...]:
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    return run.record.prints[agent.name[len("agent-") : -len(".bin")]].marks_of(LossConstant)


@pytest.mark.parametrize("lines", FAULTY)
def test_a_loss_beside_one_that_has_a_term_without_a_graph_is_marked(lines: str, watch_warm) -> None:
    found = marked(watch_warm(PROGRAM.format(lines=lines)))
    assert {one.names for one in found} == {FAULTY[lines]}
    assert found[-1].run >= 2


@pytest.mark.parametrize("lines", HEALTHY)
def test_a_loss_that_holds_all_that_was_computed_is_not(lines: str, watch_warm) -> None:
    assert marked(watch_warm(PROGRAM.format(lines=lines))) == ()
