"""That weights which were loaded and drawn anew before the first step are marked, and no others are: real runs."""

from __future__ import annotations

import pytest

from diagnostics.record.marks.loss_marks import LoadOverwritten

PROGRAM = """
    import copy, torch
    from torch import nn
    torch.manual_seed(0)
    def made(): return nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 16), nn.Linear(16, 4))
    def init(one):
        if isinstance(one, nn.Linear):
            nn.init.xavier_uniform_(one.weight); nn.init.zeros_(one.bias)
    def train(model, steps=2):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for _ in range(steps):
            optimizer.zero_grad(); model(torch.randn(4, 8)).pow(2).mean().backward(); optimizer.step()
    state, other = made().state_dict(), made().state_dict()
    model = made()
"""
FAULTY = {
    "drawn anew": "model.load_state_dict(state); model.apply(init); train(model)",
    "layer by layer": "model.load_state_dict(state); [one.reset_parameters() for one in model]; train(model)",
}
HEALTHY = {
    "loaded last": "model.apply(init); model.load_state_dict(state); train(model)",
    "a new head": "model.load_state_dict(state); init(model[3]); train(model)",
    "another state": "model.load_state_dict(state); model.load_state_dict(other); train(model)",
    "a part of another state": "model.load_state_dict(state); [one.load_state_dict(made()[at].state_dict()) "
    "for at, one in enumerate(model)]; train(model)",
    "scaled": "model.load_state_dict(state); [p.data.mul_(-0.5) for p in model.parameters()]; train(model)",
    "with noise": "model.load_state_dict(state); "
    "[p.data.add_(0.02 * torch.randn_like(p)) for p in model.parameters()]; train(model)",
    "halves": "model.load_state_dict(state); train(model.bfloat16().float())",
    "trained before": "train(model); model.load_state_dict(state); model.apply(init); train(model)",
    "a model that is gone": "model.load_state_dict(state); model = made(); train(model)",
    "nothing loaded": "model.apply(init); train(model)",
}


def marks_of(lines: str, watch_warm) -> list[LoadOverwritten]:
    run = watch_warm(PROGRAM + f"    {lines}\n    print(sum(p.sum().item() for p in model.parameters()))\n")
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    return list(run.record.prints[agent.name[len("agent-") : -len(".bin")]].marks_of(LoadOverwritten))


@pytest.mark.parametrize("how", FAULTY)
def test_weights_that_are_drawn_anew_after_the_load_are_marked(how: str, watch_warm) -> None:
    (mark,) = marks_of(FAULTY[how], watch_warm)
    assert (mark.root, mark.changed == mark.tensors >= 5) == ("Sequential", True)
    assert mark.path[0].function == "<module>"


@pytest.mark.parametrize("how", HEALTHY)
def test_what_was_loaded_and_goes_along_with_what_is_there_is_not(how: str, watch_warm) -> None:
    assert marks_of(HEALTHY[how], watch_warm) == []
