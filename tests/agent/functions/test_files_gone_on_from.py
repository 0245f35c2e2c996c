"""A chain of runs whose last file is found by its name as a text, and one that compares numbers: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.training import resumed_from_an_earlier_file

PROGRAM = """
    import os
    import torch
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kept")
    os.makedirs(folder, exist_ok=True)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    epoch = 0
    names = sorted(os.listdir(folder){key})
    if names:
        state = torch.load(os.path.join(folder, names[-1]))
        model.load_state_dict(state["model"]); optimizer.load_state_dict(state["optimizer"])
        epoch = state["epoch"] + 1
    for epoch in range(epoch, epoch + 12):
        optimizer.zero_grad(); model(torch.ones(4, 2)).sum().backward(); optimizer.step()
        state = {{"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}}
        path = os.path.join(folder, f"{name}")
        torch.save(state, path + ".tmp"); os.replace(path + ".tmp", path)
"""
PLAIN = "checkpoint_{epoch}.pt"


def told(watch: Callable[..., Any], key: str, name: str) -> Match | None:
    for _ in range(2):
        run = watch(PROGRAM.format(key=key, name=name))
        assert (run.returncode, run.stderr) == (0, "")
    agents = sorted(run.record.agents, key=lambda agent: agent.started_ns)
    processes = [
        a_process(
            agent.pid, agent=agent, prints=run.record.prints[agent.name[len("agent-") : -len(".bin")]],
            argv=("python", str(run.script)), cwd=str(run.script.parent),
        )
        for agent in agents
    ]  # fmt: skip
    assert len(processes) == 2
    job = a_job(*processes, ranks=tuple(processes[1:]), code=0, cwd=run.script.parent)
    return resumed_from_an_earlier_file.match(job)


def test_a_chain_that_goes_back_to_the_last_name_is_told(watch_warm: Callable[..., Any]) -> None:
    found = told(watch_warm, "", PLAIN)
    assert found is not None
    assert found.locations == ("main.py:9", "main.py:11")
    assert found.finding.title.startswith(
        "The run went on from checkpoint_9.pt at main.py:11, though checkpoint_11.pt had been written"
    )


@pytest.mark.parametrize(
    ("key", "name"),
    [(", key=lambda name: int(name[11:-3])", PLAIN), ("", "checkpoint_{epoch:04d}.pt"), ("", "last.pt")],
)
def test_a_chain_that_goes_on_from_the_last_file_is_not(watch_warm: Callable[..., Any], key: str, name: str) -> None:
    assert told(watch_warm, key, name) is None
