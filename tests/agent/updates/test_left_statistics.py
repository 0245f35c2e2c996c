"""Statistics of batch norm that are left out of the file of what learnt are told; any other save is not: real runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.kept_models import statistics_left_out
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import torch
    from torch import nn
    torch.manual_seed(0)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU())
            self.head = nn.Linear(4, 2)
        def forward(self, x):
            return self.head(self.body(x))
    def learn(net, steps=12, asleep=False):
        optimizer = torch.optim.SGD([one for one in net.parameters() if one.requires_grad], 0.01)
        for _ in range(steps):
            net.train()
            if asleep:
                net.body.eval()
            optimizer.zero_grad(); net(torch.randn(8, 4)).pow(2).mean().backward(); optimizer.step()
    def learnt(net):
        return {name: one for name, one in net.state_dict().items() if name.startswith("head.")}
    net = Net()
    for one in net.body.parameters():
        one.requires_grad = False
"""
FROZEN = [
    "learn(net)\ntorch.save(learnt(net), 'head.pt')",
    # Of the part alone, in a checkpoint, with the optimizer's state of nothing else.
    "learn(net)\ntorch.save({'head': net.head.state_dict(), 'step': 12}, 'head.pt')",
    # Beside a tensor that lies nowhere by itself.
    "learn(net)\ntorch.save({**learnt(net), 'seen': torch.eye(3).to_sparse()}, 'head.pt')",
    # Copies, behind a file of the body as it was before the training.
    "torch.save(net.body.state_dict(), 'body.pt')\nlearn(net)\n"
    "torch.save({name: one.clone() for name, one in learnt(net).items()}, 'head.pt')",
]
KEPT = {
    "the whole model": "learn(net)\ntorch.save(net.state_dict(), 'net.pt')",
    "the module itself": "learn(net)\ntorch.save(learnt(net), 'head.pt')\ntorch.save(net, 'net.pt')",
    "the body in eval mode": "learn(net, asleep=True)\ntorch.save(learnt(net), 'head.pt')",
    "the body in a later file": "learn(net)\ntorch.save(learnt(net), 'head.pt')\n"
    "torch.save(net.body.state_dict(), 'body.pt')",
    "the body in the same file": "learn(net)\n"
    "torch.save({'body': net.body.state_dict(), 'head': net.head.state_dict()}, 'net.pt')",
    "a part of what learnt": "net.body.requires_grad_(True)\nlearn(net)\ntorch.save(learnt(net), 'head.pt')",
    "before the training": "torch.save(learnt(net), 'head.pt')\nlearn(net)",
    "no statistics": "net.body[1] = nn.BatchNorm1d(4, track_running_stats=False)\nnet.requires_grad_(True)\n"
    "learn(net)\ntorch.save(dict(net.named_parameters()), 'net.pt')",
    "what another file writes": "learn(net)\ntorch.save(learnt(net), 'head.pt')\n"
    "torch.jit.save(torch.jit.script(net), 'net.pt')",
}


def told(watch: Callable[..., Any], text: str) -> Match | None:
    run = watch(PROGRAM + "    " + text.replace("\n", "\n    ") + "\n")
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return statistics_left_out.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize("text", FROZEN)
def test_statistics_of_a_frozen_part_in_train_mode_that_no_file_has_are_told(
    watch_warm: Callable[..., Any], text: str
) -> None:
    found = told(watch_warm, text)
    assert found is not None
    assert found.failure_class == "wrong-mode"
    assert found.finding.title.startswith("head.pt is saved at main.py:")
    assert found.finding.title.endswith("train mode: body.1, of a part that is frozen")
    assert found.locations[:2] == ("main.py:23", "main.py:15")  # where it is frozen, and train()


def test_statistics_of_norms_whose_weights_alone_are_saved_are_told(watch_warm: Callable[..., Any]) -> None:
    found = told(
        watch_warm, "net.requires_grad_(True)\nlearn(net)\ntorch.save({'net': dict(net.named_parameters())}, 'net.pt')"
    )
    assert found is not None
    assert found.failure_class == "state-not-kept"
    assert "body.1, of which the file has the weights" in found.finding.title
    assert found.locations == ("main.py:26",)


@pytest.mark.parametrize("name", KEPT)
def test_statistics_that_are_kept_or_stay_as_they_were_are_not_told(watch_warm: Callable[..., Any], name: str) -> None:
    assert told(watch_warm, KEPT[name]) is None
