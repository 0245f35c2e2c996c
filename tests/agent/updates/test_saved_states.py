"""States that are saved and hold nothing that was ever trained are told; any other save is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hand_made import a_job, a_process

from diagnostics.diagnosis.kept_models import saved_state_untrained
from diagnostics.diagnosis.signature import Match

PROGRAM = """
    import torch
    from torch import nn
    torch.manual_seed(0)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.base, self.style = nn.Linear(4, 4), nn.Embedding(3, 4)
            self.lora_a, self.lora_b = nn.Parameter(torch.randn(2, 4)), nn.Parameter(torch.zeros(4, 2))
        def forward(self, x):
            return self.base(x) + x @ self.lora_a.t() @ self.lora_b.t() + self.style.weight[0]
    def learn(net, parameters, steps=12):
        optimizer = torch.optim.SGD(parameters, 0.01)
        for _ in range(steps):
            optimizer.zero_grad(); net(torch.randn(8, 4)).pow(2).mean().backward(); optimizer.step()
    def state(net, word):
        return {name: one.detach().clone() for name, one in net.named_parameters() if word in name}
    net = Net()
    net.requires_grad_(False)
"""
TRAINED = [
    # The adapter is frozen with the rest.
    "net.style.requires_grad_(True)\n"
    "learn(net, [one for one in net.parameters() if one.requires_grad])\n"
    "torch.save(state(net, 'lora'), 'lora.pt')",
    # The same one, in a checkpoint, of a model beside which another of its kind was trained.
    "other = Net()\nlearn(other, other.parameters())\nnet.style.requires_grad_(True)\n"
    "learn(net, net.style.parameters())\ntorch.save({'step': 12, 'model': state(net, 'lora')}, 'lora.pt')",
]
KEPT = {
    "what was trained": "net.requires_grad_(True)\nlearn(net, net.parameters())\n"
    "torch.save(state(net, 'lora'), 'lora.pt')",
    "all of it": "net.style.requires_grad_(True)\nlearn(net, net.style.parameters())\n"
    "torch.save(net.state_dict(), 'net.pt')",
    "by an earlier optimizer": "net.requires_grad_(True)\nlearn(net, [net.lora_a, net.lora_b])\n"
    "learn(net, net.style.parameters())\ntorch.save(state(net, 'lora'), 'lora.pt')",
    "a model of its own that stays as it is": "coder = Net()\ncoder(torch.randn(2, 4))\nnet.requires_grad_(True)\n"
    "learn(net, net.parameters())\ntorch.save(state(coder, 'lora'), 'coder.pt')",
    "before the training": "net.style.requires_grad_(True)\ntorch.save(state(net, 'lora'), 'first.pt')\n"
    "learn(net, net.style.parameters())",
    "values of another kind": "net.style.requires_grad_(True)\nlearn(net, net.style.parameters())\n"
    "torch.save({name: one + 1 for name, one in state(net, 'lora').items()}, 'lora.pt')",
}


def told(watch: Callable[..., Any], text: str) -> Match | None:
    run = watch(PROGRAM + "    " + text.replace("\n", "\n    ") + "\n")
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    process = a_process(agent=agent, prints=prints, argv=("python", str(run.script)), cwd=str(run.script.parent))
    return saved_state_untrained.match(a_job(process, code=0, cwd=run.script.parent))


@pytest.mark.parametrize("text", TRAINED)
def test_a_state_of_what_no_optimizer_held_is_told(watch_warm: Callable[..., Any], text: str) -> None:
    found = told(watch_warm, text)
    assert found is not None
    assert found.failure_class == "zero-progress"
    assert "lora.pt is saved" in found.finding.title
    assert found.finding.title.endswith(
        "2 tensors of a model that is trained, and no optimizer ever held one of them: lora_a, lora_b"
    )
    assert found.locations[0] == "main.py:13"  # where the optimizer was made


@pytest.mark.parametrize("name", KEPT)
def test_states_of_what_was_trained_or_is_not_to_be_are_left_alone(watch_warm: Callable[..., Any], name: str) -> None:
    assert told(watch_warm, KEPT[name]) is None
