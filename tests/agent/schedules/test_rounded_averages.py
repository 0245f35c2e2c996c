"""An average that rounding holds is told; one that moves, and a copy that nobody writes to, is not: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.schedules import average_rounded_away
from diagnostics.diagnosis.signature import Match

HEAD = """
    import copy, torch
    from torch import nn
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16))
    optimizer = torch.optim.Adam(net.parameters(), 5e-4)
    wanted = torch.randn(16, 16)
    def train(update):
        for _ in range(190):
            x = torch.randn(32, 16)
            optimizer.zero_grad()
            (net(x) - x @ wanted).pow(2).mean().backward()
            optimizer.step()
            with torch.no_grad():
                update()
"""
IN_PLACE = """
    class Shadow:
        def __init__(self, dtype=torch.bfloat16, decay=0.9995):
            self.decay = decay
            self.average = [p.detach().to(dtype) for p in net.parameters()]
        def update(self):
            for mine, p in zip(self.average, net.parameters()):
                mine.lerp_(p.to(mine.dtype), 1 - self.decay)
    shadow = Shadow()
    train(shadow.update)
"""
BY_NAME = """
    state = {name: p.detach().half().clone() for name, p in net.named_parameters()}
    def update(decay=0.9999):
        for name, p in net.named_parameters():
            state[name] = decay * state[name] + (1 - decay) * p.half()
    train(update)
"""
OF_MODULES = """
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
    average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9995)).to(torch.bfloat16)
    half = copy.deepcopy(net)
    def update():
        for mine, p in zip(half.parameters(), net.parameters()):
            mine.copy_(p)
        average.update_parameters(half.to(torch.bfloat16))
    train(update)
"""
BY_DATA = """
    teacher = copy.deepcopy(net).to(torch.bfloat16).requires_grad_(False)
    def update(decay=0.998):
        for mine, p in zip(teacher.parameters(), net.parameters()):
            mine.data.mul_(decay).add_((1 - decay) * p.data)
    train(update)
"""
OF_EXACT = """
    exact = [p.detach().clone() for p in net.parameters()]
    used = [p.bfloat16() for p in exact]
    def update():
        for average, mine, p in zip(exact, used, net.parameters()):
            mine.copy_(average.lerp_(p, 0.01))
    train(update)
"""


def told(watch: Callable[..., Any], source: str) -> Match | None:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return average_rounded_away.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize(
    ("source", "held"),
    [
        (IN_PLACE, "shadow.average follows the weights in bfloat16"),
        (BY_NAME, "state follows the weights in float16"),
        (OF_MODULES, "average follows the weights in bfloat16"),
        (BY_DATA, "teacher follows the weights in bfloat16"),
    ],
)
def test_an_average_that_rounding_holds_is_told(watch_warm: Callable[..., Any], source: str, held: str) -> None:
    found = told(watch_warm, source)
    assert found is not None
    assert found.failure_class == "zero-progress"
    assert found.finding.title.startswith(held)


@pytest.mark.parametrize(
    "source",
    [
        IN_PLACE.replace("torch.bfloat16", "torch.float32"),
        IN_PLACE.replace("0.9995", "0.9"),  # moves, though in bfloat16
        IN_PLACE.replace("0.9995", "0.0"),  # a copy of the present weights
        "    teacher = copy.deepcopy(net).to(torch.bfloat16)\n    train(lambda: None)\n",  # frozen
        "    kept = [p.detach().bfloat16() for p in net.parameters()]\n    train(lambda: None)\n",
        OF_EXACT,
    ],
)  # fmt: skip
def test_averages_that_move_and_copies_that_nobody_writes_to_are_no_fault(
    watch_warm: Callable[..., Any], source: str
) -> None:
    assert told(watch_warm, source) is None
