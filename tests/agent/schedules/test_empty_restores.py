"""An optimizer that is given an empty state while its schedule goes on is told; other restores are not: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.schedules import optimizer_restored_empty
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import torch
    from torch import nn
    from torch.optim.lr_scheduler import CosineAnnealingLR
    torch.manual_seed(0)
    def parts(kind=torch.optim.AdamW, **more):
        model = nn.Linear(4, 1)
        optimizer = kind(model.parameters(), lr=0.01, **more)
        return model, optimizer, CosineAnnealingLR(optimizer, 40)
    def learn(model, optimizer, scheduler, steps=6):
        for _ in range(steps):
            optimizer.zero_grad(); (model(torch.randn(8, 4)) - 1).pow(2).mean().backward()
            optimizer.step(); scheduler.step()
    def fills(state, saved):
        # As a distributed checkpoint does: only the keys that are there.
        for key, value in state.items():
            if isinstance(value, dict):
                fills(value, saved[key])
            else:
                state[key] = saved[key]
        return state
    def empty(optimizer):
        return {"state": {}, "param_groups": optimizer.state_dict()["param_groups"]}
"""
EMPTY = {
    "filled as a template": """
    first = parts(); learn(*first)
    model, optimizer, scheduler = parts()
    optimizer.load_state_dict(fills(optimizer.state_dict(), first[1].state_dict()))
    scheduler.load_state_dict(first[2].state_dict())
    learn(model, optimizer, scheduler)
""",
    "behind the schedule, with momentum": """
    first = parts(torch.optim.SGD, momentum=0.9); learn(*first)
    model, optimizer, scheduler = parts(torch.optim.SGD, momentum=0.9)
    scheduler.load_state_dict(first[2].state_dict())
    optimizer.load_state_dict(empty(first[1]))
    learn(model, optimizer, scheduler)
""",
}
FULL = {
    "all of it": """
    first = parts(); learn(*first)
    model, optimizer, scheduler = parts()
    optimizer.load_state_dict(first[1].state_dict())
    scheduler.load_state_dict(first[2].state_dict())
    learn(model, optimizer, scheduler)
""",
    "an optimizer that keeps nothing": """
    first = parts(torch.optim.SGD); learn(*first)
    model, optimizer, scheduler = parts(torch.optim.SGD)
    optimizer.load_state_dict(first[1].state_dict())
    scheduler.load_state_dict(first[2].state_dict())
    learn(model, optimizer, scheduler)
""",
    "a run that was saved before its first step": """
    first = parts()
    model, optimizer, scheduler = parts()
    optimizer.load_state_dict(first[1].state_dict())
    scheduler.load_state_dict(first[2].state_dict())
    learn(model, optimizer, scheduler)
""",
    "weights alone, with a new schedule": """
    first = parts(); learn(*first)
    model, optimizer, scheduler = parts()
    model.load_state_dict(first[0].state_dict())
    optimizer.load_state_dict(empty(first[1]))
    learn(model, optimizer, scheduler)
""",
    "emptied and filled": """
    first = parts(); learn(*first)
    model, optimizer, scheduler = parts()
    scheduler.load_state_dict(first[2].state_dict())
    optimizer.load_state_dict(empty(first[1]))
    optimizer.load_state_dict(first[1].state_dict())
    learn(model, optimizer, scheduler)
""",
    "emptied on purpose in the middle": """
    model, optimizer, scheduler = parts(); learn(model, optimizer, scheduler)
    optimizer.load_state_dict(empty(optimizer))
    scheduler.load_state_dict(scheduler.state_dict())
    learn(model, optimizer, scheduler)
""",
}


def told(watch: Callable[..., Any], text: str) -> Match | None:
    run = watch(PROGRAM + text)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return optimizer_restored_empty.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_state_beside_a_schedule_that_goes_on_is_told_where_it_is_loaded(
    watch_warm: Callable[..., Any], name: str
) -> None:
    found = told(watch_warm, EMPTY[name])
    assert found is not None
    assert found.failure_class == "checkpoint-not-loaded"
    assert "holds nothing, and its CosineAnnealingLR goes on at step 6" in found.finding.title
    assert found.finding.title.startswith("The state that was loaded at main.py:")


@pytest.mark.parametrize("name", FULL)
def test_states_that_are_whole_or_need_hold_nothing_are_not_told(watch_warm: Callable[..., Any], name: str) -> None:
    assert told(watch_warm, FULL[name]) is None
