"""Frozen parts that their optimizer still moves are told, those that stay or move on purpose are not: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.updates import frozen_parts_move

HEAD = """
    import torch
    from torch import nn
    torch.manual_seed(0)
    x = torch.randn(8, 4)
    body, head = nn.Linear(4, 6), nn.Linear(6, 1)
    model = nn.Sequential(body, nn.Tanh(), head)
    def train(optimizer, count, **clearing):
        for _ in range(count):
            optimizer.zero_grad(**clearing); (model(x) - 1).pow(2).mean().backward(); optimizer.step()
    def freeze(part, on=False):
        for one in part.parameters(): one.requires_grad_(on)
"""


def _told(watch: Callable[..., Any], source: str) -> Match | None:
    run = watch(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    assert any(not all(look.model.learns) for look in prints.looks)
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return frozen_parts_move.match(a_job(process, code=0, cwd=run.script.parent))


MOVING = {
    "gradients of zero under momentum and decay": """
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=0.1)
    train(optimizer, 30, set_to_none=False)
    freeze(body)
    train(optimizer, 180, set_to_none=False)
""",
    "Adam's averages of a part that was warmed up": """
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
    train(optimizer, 12, set_to_none=False)
    for one in body.parameters(): one.requires_grad = False
    train(optimizer, 200, set_to_none=False)
""",
    "an old gradient, since only the head is cleared": """
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    train(optimizer, 12)
    freeze(body)
    for _ in range(200):
        head.zero_grad(); (model(x) - 1).pow(2).mean().backward(); optimizer.step()
""",
}


@pytest.mark.parametrize("how", MOVING)
def test_a_frozen_part_that_moves_is_told_with_the_line_that_freezes_it(watch_warm, how: str) -> None:
    found = _told(watch_warm, MOVING[how])
    assert found is not None
    assert (found.failure_class, found.culprit_ranks) == ("gradients-not-cleared", (0,))
    assert found.locations[0].startswith("main.py:")
    assert "goes on moving" in found.finding.title


RESTING = {
    "cleared to none": """
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=0.1)
    train(optimizer, 30)
    freeze(body)
    train(optimizer, 180)
""",
    "no gradient ever": """
    freeze(body)
    train(torch.optim.AdamW(model.parameters(), lr=0.01), 210, set_to_none=False)
""",
    "zero without momentum or decay": """
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    train(optimizer, 30, set_to_none=False)
    freeze(body)
    train(optimizer, 180, set_to_none=False)
""",
    "a teacher that is moved by hand": """
    freeze(body)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    other = nn.Linear(4, 6)
    for _ in range(210):
        with torch.no_grad():
            for mine, given in zip(body.parameters(), other.parameters()): mine.lerp_(given, 0.01)
        train(optimizer, 1)
""",
    "gradients by hand, of an evolution strategy": """
    freeze(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(210):
        for one in model.parameters(): one.grad = torch.randn_like(one)
        optimizer.step()
""",
    "parts that take turns in one optimizer": """
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for number in range(210):
        freeze(body, number % 2 == 0); freeze(head, number % 2 == 1)
        train(optimizer, 1, set_to_none=False)
""",
}


FRESH = """
    body, head = nn.Linear(4, 6), nn.Linear(6, 1)
    model = nn.Sequential(body, nn.Tanh(), head)
"""


def test_a_frozen_part_that_rests_or_is_moved_on_purpose_is_left_alone(watch_warm) -> None:
    assert _told(watch_warm, "".join(FRESH + way for way in RESTING.values())) is None
