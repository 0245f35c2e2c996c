"""That a state which was loaded into an optimizer without steps is told, and any that is used is not: a real run."""

from __future__ import annotations

import pytest

PROGRAM = """
    import torch
    from torch import nn
    net, other = nn.Linear(4, 1), nn.Linear(4, 1)
    def made(model): return torch.optim.AdamW(model.parameters(), lr=0.01)
    def steps(count, *optimizers):
        for _ in range(count):
            for one in optimizers:
                one.zero_grad()
            (net(torch.ones(2, 4)) + other(torch.ones(2, 4))).mean().backward()
            for one in optimizers:
                one.step()
    first = made(net)
    steps(3, first)
    state = first.state_dict()
"""
WAYS = {
    "made anew": ("a = made(net); a.load_state_dict(state); a = made(net); steps(12, a)", 1),
    "made anew and kept": ("a = made(net); a.load_state_dict(state); b = made(net); steps(12, b)", 1),
    "the one of before": ("a = made(net); b = made(net); b.load_state_dict(state); steps(12, a)", 1),
    "used": ("a = made(net); a.load_state_dict(state); steps(12, a)", 0),
    "used and then made anew": ("a = made(net); a.load_state_dict(state); steps(2, a); b = made(net); steps(12, b)", 0),
    "another model steps first": (
        "a, b = made(net), made(other); a.load_state_dict(state); steps(12, b); steps(2, a)", 0
    ),
    "loaded twice": ("a = made(net); a.load_state_dict(state); a.load_state_dict(state); steps(12, a)", 0),
    "loaded again into the new one": (
        "a = made(net); a.load_state_dict(state); b = made(net); b.load_state_dict(state); steps(12, b)", 0
    ),
    "a state without entries": (
        "a = made(net); a.load_state_dict(made(net).state_dict()); b = made(net); steps(12, b)", 0
    ),
    "a few steps": ("a = made(net); a.load_state_dict(state); b = made(net); steps(6, b); steps(6, a)", 0),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_state_that_no_step_uses_is_told(way: str, watch_warm) -> None:
    lines, expected = WAYS[way]
    run = watch_warm(PROGRAM + f"    {lines}\n")
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    told = [event for event in agent.events if event.kind == "restored-optimizer-unused"]
    assert [(one.text, one.value) for one in told] == [("AdamW", 10)] * expected


RESUMES = """
    import torch
    from torch import nn
    from torch.optim.optimizer import register_optimizer_step_pre_hook
    net = nn.Linear(64, 64)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    def step():
        optimizer.zero_grad()
        net(torch.ones(2, 64)).mean().backward()
        optimizer.step()
    step()
    saved = net.state_dict(), optimizer.state_dict()
    net = nn.Linear(64, 64)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
"""
LOADS = ("net.load_state_dict(saved[0])", "optimizer.load_state_dict(saved[1])")


@pytest.mark.parametrize("loads", [LOADS, LOADS[::-1]], ids=["the model first", "the optimizer first"])
def test_a_job_that_loads_both_and_has_a_hook_of_its_own_goes_on(loads: tuple[str, str], watch_warm) -> None:
    lines = "\n".join(f"    {one}" for one in loads)
    own = "    seen = []\n    register_optimizer_step_pre_hook(lambda *args: seen.append(1))\n"
    run = watch_warm(f"{RESUMES}{lines}\n{own}    for _ in range(3): step()\n    print(len(seen))\n")
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "3", "")
