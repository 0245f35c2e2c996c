"""A frozen part in eval mode that train() of the whole model wakes is told, one kept asleep is not: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.updates import frozen_part_woken

HEAD = """
    import torch
    from torch import nn
    torch.manual_seed(0)
    class Pair(nn.Module):
        def __init__(self, teacher):
            super().__init__()
            self.student, self.teacher = nn.Linear(4, 3), teacher
        def forward(self, x):
            with torch.no_grad():
                wanted = self.teacher(x)
            return (self.student(x) - wanted).pow(2).mean()
    class Careful(Pair):
        def train(self, mode=True):
            super().train(mode)
            self.teacher.eval()
            return self
    def teacher(drop=0.3):
        return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(drop))
    def run(model):
        optimizer = torch.optim.SGD(model.student.parameters(), 0.01)
        for epoch in range(5):
            model.train()
            for _ in range(12):
                optimizer.zero_grad(); model(torch.randn(8, 4)).backward(); optimizer.step()
            model.eval()
"""


def told(watch: Callable[..., Any], source: str) -> Match | None:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return frozen_part_woken.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    "made",
    [
        "run(Pair(teacher().requires_grad_(False).eval()))",
        "model = Pair(teacher()); model.teacher.eval(); model.teacher.requires_grad_(False); run(model)",
    ],
)
def test_a_frozen_part_that_train_of_the_whole_model_woke_is_told_at_that_call(
    watch: Callable[..., Any], made: str
) -> None:
    found = told(watch, f"    {made}\n")
    assert found is not None
    assert (found.failure_class, found.module) == ("wrong-mode", "teacher")
    assert found.finding.title.startswith("teacher (Sequential) of Pair is frozen and was put into eval mode at ")
    assert found.finding.title.endswith("put it back into train mode: 1 (BatchNorm1d) behaves as in training")


@pytest.mark.parametrize(
    "made",
    [
        "run(Careful(teacher().requires_grad_(False).eval()))",
        "run(Pair(teacher().requires_grad_(False)))",  # nobody wanted it asleep
        "run(Pair(teacher().eval()))",  # not frozen
        "model = Pair(teacher().requires_grad_(False).eval()); model.teacher.train(); run(model)",
        "run(Pair(nn.Linear(4, 3).requires_grad_(False).eval()))",  # a mode that says nothing
    ],
)
def test_parts_that_sleep_learn_were_woken_on_purpose_or_have_no_mode_are_no_fault(
    watch: Callable[..., Any], made: str
) -> None:
    assert told(watch, f"    {made}\n") is None
