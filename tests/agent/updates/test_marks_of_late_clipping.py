"""That gradients clipped behind the step are marked, and those that are clipped for one are not: real runs."""

from __future__ import annotations

import pytest

from diagnostics.record.marks.loss_marks import ClippedLate

PROGRAM = """
    import torch
    from torch import nn
    from torch.nn.utils import clip_grad_norm_, clip_grad_value_
    net, head = nn.Linear(4, 4), nn.Linear(4, 1)
    a = torch.optim.SGD(net.parameters(), lr=0.01)
    b = torch.optim.SGD(head.parameters(), lr=0.01)
    def back():
        a.zero_grad(); b.zero_grad(); head(net(torch.ones(2, 4))).mean().backward()
    for step in range(24):
{lines}
"""
FAULTY = {
    "behind the step": "back(); a.step(); clip_grad_norm_(net.parameters(), 1.0)",
    "by value": "back(); a.step(); clip_grad_value_(net.parameters(), clip_value=1.0)",
    "over micro-batches": "back(); back(); a.step(); clip_grad_norm_(net.parameters(), 1.0)",
    "behind both steps": "back(); a.step(); b.step(); clip_grad_norm_(net.parameters(), 1.0)",
}
HEALTHY = {
    "before the step": "back(); clip_grad_norm_(net.parameters(), 1.0); a.step()",
    "between two steps": "back(); a.step(); clip_grad_norm_(head.parameters(), 1.0); b.step()",
    "before and behind": "back(); clip_grad_norm_(net.parameters(), 1.0); a.step(); "
    "clip_grad_norm_(net.parameters(), 1.0)",
    "for the norm": "back(); a.step(); print(len(str(clip_grad_norm_(net.parameters(), float('inf')))) > 0)",
    "for the next pass": "clip_grad_norm_(net.parameters(), 1.0) if step else None; back(); clip_grad_norm_("
    "net.parameters(), 1.0); a.step()",
    "at times": "back(); a.step(); clip_grad_norm_(net.parameters(), 1.0) if step % 4 == 0 else None",
    "of a pass without a step": "back(); clip_grad_norm_(net.parameters(), 1.0); a.step() if step % 2 else None",
}


def marks_of(lines: str, watch_warm) -> list[tuple[int, float]]:
    run = watch_warm(PROGRAM.format(lines=f"        {lines}"))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    marks = run.record.prints[agent.name[len("agent-") : -len(".bin")]].marks_of(ClippedLate)
    assert [[frames[0].function for frames in (one.path, one.stepped)] for one in marks] == [["<module>"] * 2] * len(
        marks
    )
    return [(one.run, one.limit) for one in marks]


@pytest.mark.parametrize("how", FAULTY)
def test_clipping_that_no_step_uses_is_marked(how: str, watch_warm) -> None:
    assert marks_of(FAULTY[how], watch_warm) == [(10, 1.0), (20, 1.0)]


@pytest.mark.parametrize("how", HEALTHY)
def test_clipping_for_a_step_or_for_the_norm_alone_is_not(how: str, watch_warm) -> None:
    assert marks_of(HEALTHY[how], watch_warm) == []
