"""That steps on a loss of NaN are marked where they come in a row, and no others: real runs."""

from __future__ import annotations

import pytest

from diagnostics.record.marks.loss_marks import NanSteps

PROGRAM = """
    import torch
    from torch import nn
    net = nn.Linear(4, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    def numbers():
        for p in net.parameters():
            torch.nan_to_num_(p.grad)
    def update(step, spread):
        opt.zero_grad()
        out = net(torch.ones(1, 4))
        scaled = (out - out.mean(0)) / (spread if step % {every} else torch.ones(4))
        loss = scaled.square().mean() + out.mean()
        loss.backward()
{lines}
    for step in range(1, 81):
        update(step, {spread})
"""
NAN = "torch.ones(1, 4).std(0)"


def marks_of(watch_warm, lines: str, spread: str = NAN, every: int = 100) -> list[NanSteps]:
    run = watch_warm(PROGRAM.format(lines=f"        {lines}", spread=spread, every=every))
    assert run.returncode == 0
    (agent,) = run.record.agents
    return list(run.record.prints[agent.name[len("agent-") : -len(".bin")]].marks_of(NanSteps))


def test_steps_on_nan_are_marked_with_the_variables_that_hold_it(watch_warm) -> None:
    told = marks_of(watch_warm, "numbers(); opt.step()")
    assert [(one.run, one.step, set(one.names.split())) for one in told] == [
        (32, 32, {"spread", "scaled", "loss"}), (64, 64, {"spread", "scaled", "loss"}),
    ]  # fmt: skip
    assert [frame.function for frame in told[0].path] == ["update", "<module>"]


@pytest.mark.parametrize(
    ("lines", "spread", "every"),
    [
        ("numbers(); opt.step()", "torch.ones(4)", 100),  # numbers all the way
        ("numbers(); opt.step()", NAN, 20),  # each 20th loss is a number
        ("opt.step() if loss.isfinite() else None", NAN, 100),  # a guard leaves them out
    ],
)
def test_numbers_and_steps_that_a_guard_leaves_out_are_not(watch_warm, lines: str, spread: str, every: int) -> None:
    assert marks_of(watch_warm, lines, spread, every) == []
