"""Parts unfrozen in vain, terms of another's loss, states cut at each step and never: told; their healthy twins not."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.losses import state_cut, term_useless
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.slow import graph_endless
from diagnostics.diagnosis.updates import unfrozen_unheld
from diagnostics.record.parameter_prints import ParameterPrints

HEAD = """
    import torch
    import torch.nn.functional as F
    from torch import nn
    torch.manual_seed(0)
"""
FROZEN = (
    HEAD
    + """
    body, head = nn.Linear(4, 8), nn.Linear(8, 1)
    net = nn.Sequential(body, nn.Tanh(), head)
    body.requires_grad_(False)
    optimizer = torch.optim.Adam({learning}, lr=1e-3)
    for step in range(40):
        if step == 8:
            {thaw}
        net(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
        {clear}.zero_grad()
        {behind}
"""
)
PAIR = (
    HEAD
    + """
    maker, judge = nn.Linear(4, 4), nn.Linear(4, 1)
    first = torch.optim.Adam(maker.parameters(), lr=1e-3)
    second = torch.optim.Adam(judge.parameters(), lr=1e-3)
    for step in range(40):
        x = torch.randn(8, 4)
        fake = maker(x)
        second.zero_grad()
        (judge(x).mean() - judge(fake.detach()).mean()).backward()
        second.step()
        first.zero_grad()
        {judged}
        loss = {loss}
        loss.backward()
        {step}
"""
)
CELL = (
    HEAD
    + """
    cell, out = {cell}, nn.Linear(8, 1)
    optimizer = torch.optim.Adam([*cell.parameters(), *out.parameters()], lr=1e-3)
    for step in range(44):
        x, state, loss = torch.randn(6, 4, 4), {zeros}, 0.0
        for t in range(6):
            {turn}
        loss = loss + out({last}).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
)
CHUNKS = (
    HEAD
    + """
    lstm, out = nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 1)
    parameters = [*lstm.parameters(), *out.parameters()]
    state = None
    for step in range(44):
        y, state = lstm(torch.randn(2, 3, 4), state)
        {carry}
        loss = out(y).mean()
        {backward}
        for one in parameters:
            one.data = one.data - 0.1 * one.grad; one.grad = None
"""
)


def told(signature: ModuleType, watch: Callable[..., Any], program: str, **parts: str) -> Match | None:
    run = watch(program.format(**parts))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert not [one for one in agent.events if one.kind == "no-marks"]
    prints = run.record.prints.get(agent.name[len("agent-") : -len(".bin")], ParameterPrints())
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    found: Match | None = signature.match(a_job(process, code=0, cwd=run.script.parent))
    return found


FILTERED = "filter(lambda one: one.requires_grad, net.parameters())"
THAW = "body.requires_grad_(True)"
ADDED = "body.requires_grad_(True); optimizer.add_param_group({'params': body.parameters()})"
BY_HAND = "\n".join(
    ["if step >= 8:", "            with torch.no_grad():", "                body.weight -= 0.1; body.bias -= 0.1"]
)


@pytest.mark.parametrize(
    ("learning", "thaw", "clear"),
    [
        (FILTERED, THAW, "optimizer"),
        ("head.parameters()", "for one in net.parameters(): one.requires_grad = True", "net"),
        ("[{'params': head.parameters(), 'lr': 0.1}]", THAW, "optimizer"),
    ],
)
def test_a_part_that_is_unfrozen_and_in_no_optimizer_is_told(
    watch_warm: Callable[..., Any], learning: str, thaw: str, clear: str
) -> None:
    found = told(unfrozen_unheld, watch_warm, FROZEN, learning=learning, thaw=thaw, clear=clear, behind="pass")
    assert found is not None
    assert (found.failure_class, found.culprit_ranks) == ("zero-progress", (0,))
    assert found.locations[:2] == ("main.py:10", "main.py:13")
    assert found.finding.title.startswith("0.bias and others were unfrozen before step 9 and never change")


@pytest.mark.parametrize(
    ("learning", "thaw", "behind"),
    [
        pytest.param("net.parameters()", THAW, "pass", id="held from the start"),
        pytest.param(FILTERED, ADDED, "pass", id="a group is added"),
        pytest.param(
            FILTERED,
            "body.requires_grad_(True); optimizer = torch.optim.Adam(net.parameters())",
            "pass",
            id="made anew",
        ),
        pytest.param(FILTERED, "pass", "pass", id="never unfrozen"),
        pytest.param(FILTERED, THAW, "if step == 12: body.requires_grad_(False)", id="frozen again"),
        pytest.param(FILTERED, THAW, BY_HAND, id="moved by hand"),
    ],
)
def test_a_part_that_learns_or_stays_frozen_is_left_alone(
    watch_warm: Callable[..., Any], learning: str, thaw: str, behind: str
) -> None:
    parts = {"learning": learning, "thaw": thaw, "clear": "net", "behind": behind}
    assert told(unfrozen_unheld, watch_warm, FROZEN, **parts) is None


CUT = "judged = judge(fake.detach())"


@pytest.mark.parametrize(
    ("judged", "loss"),
    [
        (CUT, "F.mse_loss(judged, torch.ones_like(judged)) + 5 * F.l1_loss(fake, x)"),
        ("judged = judge(fake.data)", "F.l1_loss(fake, x) - judged.mean() / 2"),
        ("judged = judge(fake.detach())", "0.5 * (F.softplus(-judged).mean() + (fake - x).pow(2).mean())"),
    ],
)
def test_a_term_on_the_detached_output_is_told(watch_warm: Callable[..., Any], judged: str, loss: str) -> None:
    found = told(term_useless, watch_warm, PAIR, judged=judged, loss=loss, step="first.step()")
    assert found is not None
    assert (found.failure_class, found.culprit_ranks) == ("gradients-lost", (0,))
    assert found.locations == ("main.py:17", "main.py:19")


@pytest.mark.parametrize(
    ("judged", "loss", "step"),
    [
        pytest.param("judged = judge(fake)", "F.l1_loss(fake, x) - judged.mean()", "first.step()", id="not detached"),
        pytest.param(
            "judged = judge(fake)", "judge(x).mean() - judged.mean() + F.l1_loss(fake, x)", "first.step()",
            id="a term of the real ones beside that of the fake ones",
        ),
        pytest.param(CUT, "judged.mean() + F.l1_loss(fake, x)", "first.step(); second.step()", id="both step"),
        pytest.param(
            "with torch.no_grad(): judged = judge(fake)", "judged.mean() + F.l1_loss(fake, x)", "first.step()",
            id="a term without any graph",
        ),
        pytest.param("judged = fake", "judged.mean() + F.l1_loss(fake, x)", "first.step()", id="of the maker alone"),
    ],
)  # fmt: skip
def test_terms_that_reach_what_learns_are_left_alone(
    watch_warm: Callable[..., Any], judged: str, loss: str, step: str
) -> None:
    assert told(term_useless, watch_warm, PAIR, judged=judged, loss=loss, step=step) is None


GRU, LSTM, LAYER = "nn.GRUCell(4, 8)", "nn.LSTMCell(4, 8)", "nn.GRU(4, 8)"
ZEROS = {GRU: "torch.zeros(4, 8)", LSTM: "(torch.zeros(4, 8), torch.zeros(4, 8))", LAYER: "torch.zeros(1, 4, 8)"}


@pytest.mark.parametrize(
    ("cell", "turn", "last"),
    [
        (GRU, "state = cell(x[t], state.detach())", "state"),
        (LSTM, "state = tuple(one.detach() for one in state); state = cell(x[t], state)", "state[0]"),
        (GRU, "state = cell(x[t], state.data.clone()); loss = loss + out(state).mean()", "state"),
        (LAYER, "y, state = cell(x[t : t + 1], state.detach())", "y"),
    ],
)
def test_a_state_that_is_cut_off_at_each_step_is_told(
    watch_warm: Callable[..., Any], cell: str, turn: str, last: str
) -> None:
    found = told(state_cut, watch_warm, CELL, cell=cell, zeros=ZEROS[cell], turn=turn, last=last)
    assert found is not None
    assert (found.failure_class, found.locations[0]) == ("gradients-lost", "main.py:12")
    assert " is given its own state without the graph at each of 5 steps: " in found.finding.title


@pytest.mark.parametrize(
    ("cell", "turn", "last"),
    [
        pytest.param(GRU, "state = cell(x[t], state)", "state", id="through all steps"),
        pytest.param(GRU, "state = cell(x[t], state if t % 3 else state.detach())", "state", id="once a chunk"),
        pytest.param(GRU, "state = cell(x[t], torch.zeros(4, 8))", "state", id="without memory"),
        pytest.param(LAYER, "y, state = cell(x, state.detach())", "y[-1]", id="a layer over a chunk"),
        pytest.param(
            GRU, "with torch.no_grad(): state = cell(x[t], state.detach())", "cell(x[5], state)", id="a rollout"
        ),
    ],
)
def test_a_state_that_keeps_its_graph_is_left_alone(
    watch_warm: Callable[..., Any], cell: str, turn: str, last: str
) -> None:
    assert told(state_cut, watch_warm, CELL, cell=cell, zeros=ZEROS[cell], turn=turn, last=last) is None


KEPT, PLAIN = "loss.backward(retain_graph=True)", "loss.backward()"


def test_a_graph_that_goes_back_to_the_start_is_told(watch_warm: Callable[..., Any]) -> None:
    found = told(graph_endless, watch_warm, CHUNKS, carry="pass", backward=KEPT)
    assert found is not None
    assert (found.failure_class, found.outcome, found.locations[0]) == ("memory-leak", "slow", "main.py:14")
    assert "The backward pass at main.py:14 goes back through 39 passes and more" in found.finding.title


@pytest.mark.parametrize(
    ("carry", "backward"),
    [
        pytest.param("state = tuple(one.detach() for one in state)", PLAIN, id="cut"),
        pytest.param("state = None", KEPT, id="kept for nothing"),
        pytest.param("state = state if step % 5 else tuple(one.detach() for one in state)", KEPT, id="a few chunks"),
        pytest.param("state = None", f"for _ in range(3): {KEPT}", id="several passes over one graph"),
    ],
)
def test_a_graph_that_is_cut_is_left_alone(watch_warm: Callable[..., Any], carry: str, backward: str) -> None:
    assert told(graph_endless, watch_warm, CHUNKS, carry=carry, backward=backward) is None
