"""Gradients that another optimizer's pass left are told where a step uses them, too, and fight its own: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.updates import foreign_gradients

HEAD = """
    import torch
    from torch import nn
    torch.manual_seed(0)
    real = torch.randn(32, 4) + 2
    maker, judge = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    makes, judges = torch.optim.Adam(maker.parameters(), 1e-3), torch.optim.Adam(judge.parameters(), 1e-3)
    tells = nn.functional.binary_cross_entropy_with_logits
    yes, no = torch.ones(32, 1), torch.zeros(32, 1)
    def deceive():
        made = maker(torch.randn(32, 3))
        tells(judge(made), yes).backward()
        return made.detach()
    def learn(made):
        (tells(judge(real), yes) + tells(judge(made), no)).backward()
"""


def told(watch: Callable[..., Any], source: str) -> Match | None:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return foreign_gradients.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    "turn",
    [
        "made = deceive(); makes.step(); makes.zero_grad(); learn(made); judges.step(); judges.zero_grad()",
        "makes.zero_grad(False); made = deceive(); makes.step(); learn(made); judges.step(); judges.zero_grad(False)",
    ],
    ids=["cleared after the own step", "set to zero"],
)
def test_a_step_that_uses_what_the_other_pass_left_is_told_with_both_passes(
    watch: Callable[..., Any], turn: str
) -> None:
    found = told(watch, f"    for _ in range(200):\n        {turn}\n")
    assert found is not None
    assert (found.failure_class, found.culprit_ranks) == ("gradients-not-cleared", (0,))
    assert found.finding.title.startswith("Gradients that another optimizer's pass at ")


@pytest.mark.parametrize(
    "turn",
    [
        "made = deceive(); makes.step(); makes.zero_grad(); judges.zero_grad(); learn(made); judges.step()",
        "judges.zero_grad(); learn(deceive()); judges.step()",  # one optimizer steps on both
        "judge.requires_grad_(False); made = deceive(); makes.step(); makes.zero_grad(); judge.requires_grad_(True); "
        "learn(made); judges.step(); judges.zero_grad()",
        "made = maker(real[:, :3]).detach(); learn(made); makes.step(); learn(made); judges.step(); judges.zero_grad()",
    ],
    ids=["cleared before", "one steps", "kept from it", "two passes that agree"],
)
def test_what_is_cleared_kept_apart_or_meant_to_add_up_is_not(watch: Callable[..., Any], turn: str) -> None:
    assert told(watch, f"    for _ in range(200):\n        {turn}\n") is None
