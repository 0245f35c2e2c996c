"""That rates written where no step reads them are marked, and schedules that are heard are not: real runs."""

from __future__ import annotations

import pytest

from diagnostics.record.marks.object_marks import RatesLost
from diagnostics.record.parameter_prints import ParameterPrints

HEAD = """
    import torch
    from torch import nn
    from torch.optim.lr_scheduler import LambdaLR, StepLR
    x = torch.randn(8, 4)
    def net(): return nn.Linear(4, 1)
    def sgd(model): return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    def steps(optimizer, model, schedule=lambda count: None, count=40):
        for number in range(count):
            schedule(number)
            optimizer.zero_grad(); model(x).pow(2).mean().backward(); optimizer.step()
    def resumed(model):
        kept = sgd(model); steps(kept, model, count=2)
        return kept.state_dict()
    model = net(); optimizer = sgd(model); state = resumed(net())
"""


def _lost(watch, source: str) -> tuple[RatesLost, ...]:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind in ("no-prints", "no-marks")] == []
    return run.record.prints.get(agent.name[len("agent-") : -len(".bin")], ParameterPrints()).marks_of(RatesLost)


LOST = {
    "a schedule that keeps the list of groups": """
    groups = optimizer.param_groups
    optimizer.load_state_dict(state)
    def schedule(number):
        for group in groups: group["lr"] = 0.1 * 0.9**number
    steps(optimizer, model, schedule)
""",
    "one that keeps a group and writes each fifth step": """
    class Decay:
        def __init__(self, group): self.group = group
        def __call__(self, number):
            if not number % 5: self.group["lr"] *= 0.5
    decay = Decay(optimizer.param_groups[0])
    optimizer.load_state_dict(state)
    steps(optimizer, model, decay)
""",
    "a scheduler of an optimizer that was made anew": """
    scheduler = LambdaLR(optimizer, lambda number: 0.95**number)
    steps(optimizer, model, lambda _: None, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    steps(optimizer, model, lambda _: scheduler.step())
""",
}


@pytest.mark.parametrize("how", LOST)
def test_rates_that_reach_no_step_are_marked_with_both(watch_warm, how: str) -> None:
    mark = _lost(watch_warm, "    import warnings; warnings.simplefilter('ignore')\n" + LOST[how])[-1]
    assert mark.written != mark.rate in (0.1, 1e-3)
    assert mark.changes >= 3
    assert mark.made
    assert mark.stepped
    assert mark.scheduler == ("LambdaLR" if "scheduler" in LOST[how] else "")


HEARD = {
    "groups that are asked for in each step": """
    optimizer.load_state_dict(state)
    def schedule(number):
        for group in optimizer.param_groups: group["lr"] = 0.1 * 0.9**number
    steps(optimizer, model, schedule)
""",
    "a logger that keeps a group and reads it": """
    group, seen = optimizer.param_groups[0], []
    optimizer.load_state_dict(state)
    steps(optimizer, model, lambda _: seen.append(group["lr"]))
""",
    "written into both": """
    group = optimizer.param_groups[0]
    optimizer.load_state_dict(state)
    def schedule(number):
        for one in (group, optimizer.param_groups[0]): one["lr"] = 0.1 * 0.9**number
    steps(optimizer, model, schedule)
""",
    "a torch scheduler that is resumed with its optimizer": """
    scheduler = StepLR(optimizer, 2, 0.9)
    optimizer.load_state_dict(state)
    steps(optimizer, model, lambda number: scheduler.step() if number else None)
""",
    "two optimizers of one model that take turns, each with a schedule": """
    other = torch.optim.Adam(model.parameters(), lr=1e-3)
    pairs = [(one, LambdaLR(one, lambda number: 0.95**number)) for one in (optimizer, other)]
    for one, schedule in pairs * 2: steps(one, model, lambda number: schedule.step() if number else None, 20)
""",
    "a first phase's scheduler that rests in the second": """
    schedule = LambdaLR(optimizer, lambda number: 0.95**number)
    steps(optimizer, model, lambda number: schedule.step() if number else None, 20)
    steps(torch.optim.Adam(model.parameters(), lr=1e-3), model)
""",
    "a wrapper that shares the groups, and a rate that rests": """
    class Wrapper(torch.optim.Optimizer):
        def __init__(self, inner):
            self.inner, self.param_groups, self.state, self.defaults = inner, inner.param_groups, inner.state, {}
        def zero_grad(self): self.inner.zero_grad()
        def step(self): self.inner.step()
    wrapper = Wrapper(optimizer)
    schedule = StepLR(wrapper, 1000)
    steps(wrapper, model, lambda number: schedule.step() if number else None)
""",
    "a judge and a maker": """
    judge = net(); first, second = sgd(judge), optimizer
    schedules = [LambdaLR(one, lambda number: 0.95**number) for one in (first, second)]
    for _ in range(40):
        steps(first, judge, count=1); steps(second, model, count=1)
        for one in schedules: one.step()
""",
}


FRESH = "\n    model = net(); optimizer = sgd(model); state = resumed(net())\n"


def test_schedules_that_steps_hear_are_not_marked(watch_warm) -> None:
    # Lambdas look up their names when they are called: each way has a model and an optimizer of its own.
    assert _lost(watch_warm, "".join(FRESH + way for way in HEARD.values())) == ()
