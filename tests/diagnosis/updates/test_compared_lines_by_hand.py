"""Which line a loss that compares all pairs is told at: torch's own warning, else the arithmetic that was seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.training import loss_compares_all_pairs
from diagnostics.record.agent_data import Steps
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import LossSpread

TRAIN = """\
from losses import Hinge, Pinball, value_loss
criterion = nn.MSELoss()
for x, y in loader:
    x = x - mean
    total = value_loss(net(x), y) + pinball(net(x), y) + hinge(net(x), y)
    rate = lr * scale
    far = criterion(net(x), y)
    near = F.l1_loss(net(x), y)
    total.backward()
"""
LOSSES = """\
def value_loss(value, old, returns, advantage):
    gain = advantage - advantage.mean()
    clipped = old + (value - old).clamp(-1, 1)
    plain, limited = (value - returns).square(), (clipped - returns).square()
    return torch.max(plain, limited).mean()
class Hinge(nn.Module):
    def forward(self, score, sign):
        return torch.relu(1 - score * sign).mean()
"""
SEEN = LossSpread(run=3, given=(32, 1), made=(32, 32), path=frames("train.py:9"), function="SubBackward0")
WARNED = (
    "/job/train.py:8: UserWarning: Using a target size (torch.Size([{}])) that is different to the input size "
    "(torch.Size([{}])). This will likely lead to incorrect results due to broadcasting.\n"
)


def told(folder: Path, mark: LossSpread, stderr: str = "") -> Match | None:
    """Returns what is said of one rank with this mark, that wrote this."""
    (folder / "train.py").write_text(TRAIN)
    (folder / "losses.py").write_text(LOSSES)
    seen = replace(agent(steps=60), steps=Steps(count=60, backwards=60))
    text = stderr.replace("/job/", f"{folder}/")
    process = a_process(100, agent=seen, prints=ParameterPrints(marks=(mark,)), stderr=text, cwd=str(folder))
    return loss_compares_all_pairs.match(a_job(process, code=0, cwd=folder))


LINES = {
    "SubBackward0": "losses.py:4", "MulBackward0": "losses.py:8", "MseLossBackward0": "train.py:7",
    "L1LossBackward0": "train.py:8",
}  # fmt: skip


@pytest.mark.parametrize("function", LINES)
def test_the_line_of_the_arithmetic_is_told_in_whatever_file_it_stands(tmp_path: Path, function: str) -> None:
    found = told(tmp_path, replace(SEEN, function=function))
    assert found is not None
    assert (found.locations[0], found.locations[-1]) == (LINES[function], "train.py:9")


def test_one_look_is_enough_where_torch_itself_warned_of_it_and_its_line_is_told(tmp_path: Path) -> None:
    found = told(tmp_path, replace(SEEN, run=1, function="MseLossBackward0"), WARNED.format("32", "32, 1"))
    assert found is not None
    assert found.locations[0] == "train.py:8"
    assert found.finding.evidence[1].source == "torch's own warning"


@pytest.mark.parametrize("sizes", [("1", "1, 1"), ("32, 1", "32, 1"), ("16", "32, 1"), ("32, 4", "32, 1")])
def test_warnings_of_other_sizes_add_nothing(tmp_path: Path, sizes: tuple[str, str]) -> None:
    assert told(tmp_path, replace(SEEN, run=1), WARNED.format(*sizes)) is None


def test_without_a_line_that_looks_like_it_backward_is_told(tmp_path: Path) -> None:
    found = told(tmp_path, replace(SEEN, function="DivBackward0", path=frames("train.py:9")))
    assert found is not None
    assert "train.py:9" in found.locations


POLICY = {
    """\
def update(dist, actions, targets, values):
    advantage = targets - values.detach()
    advantage = (advantage - advantage.mean()) / advantage.std()
    policy_loss = -(dist.log_prob(actions) * advantage).mean()
    policy_loss.backward()
""": ("train.py:2", "train.py:4"),
    """\
class Agent:
    def learn(self, memory):
        td_error = memory.rewards + 0.9 * memory.after - self.critic(memory.states)
        ratio = torch.exp(self.log_probs() - memory.log_probs)
        first, second = ratio * td_error, ratio.clamp(0.8, 1.2) * td_error
        (-torch.min(first, second).mean()).backward()
""": ("train.py:3", "train.py:5"),
    """\
scale = width * height
for state, action, G in memory:
    loss = (-policy.log_prob(action) * G.returns).sum()
    loss.backward()
""": ("train.py:3",),
}


@pytest.mark.parametrize("text", POLICY)
def test_weights_of_all_samples_are_told_where_they_are_made_and_multiplied(tmp_path: Path, text: str) -> None:
    mark = replace(SEEN, given=(32,), function="MulBackward0", path=frames(f"{tmp_path}/train.py:5"))
    process = a_process(100, agent=agent(steps=60), prints=ParameterPrints(marks=(mark,)), cwd=str(tmp_path))
    found = loss_compares_all_pairs.match(a_job(process, code=0, cwd=tmp_path, files={"train.py": text}))
    assert found is not None
    assert found.locations[: len(POLICY[text])] == POLICY[text]
    assert found.finding.title.startswith("The loss weighs each sample with the weights of all samples of the batch")
