"""Who changed in place what a backward pass needs."""

from __future__ import annotations

from pathlib import Path

import hand_made as made
import pytest

from diagnostics.core.findings import Finding
from diagnostics.diagnosis.wrapper import tensor_changed_in_place
from diagnostics.record.agent_data import ModuleEntry, ModuleName

ERROR = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor []] is at version 4; expected version 3 instead."
)
TRAIN = """\
critic = DistributedDataParallel(Critic())
def losses(critic, real, fake):
    return critic(real).mean() - critic(fake).mean()
def generated(critic, fake):
    return -critic(fake).mean()
loss = losses(critic, real, fake)
loss.backward()
"""
REFRESHED = """\
class Critic(Module):
    {decorator}
    def refresh(self):
        {guard}self.sigma.copy_(norm(self.weight))
    def forward(self, x):
        self.refresh()
        return x @ (self.weight / self.sigma)
"""


def found(folder: Path, source: str) -> Finding:
    line = source.splitlines().index("loss.backward()") + 1
    error = made.raised(ERROR, f"{folder}/train.py:{line}")
    entered = (ModuleEntry(sequence=1, module=ModuleName(path="", class_name="Critic", root_class="Critic"),
                           backward=False),)  # fmt: skip
    process = made.a_process(rank=0, code=1, raised=(error,), agent=made.agent(entered=entered))
    match = tensor_changed_in_place.match(made.a_job(process, cwd=folder, files={"train.py": source}))
    assert match is not None
    return match.finding


def test_two_forwards_in_one_line_are_told_there_and_not_where_another_function_calls_it(tmp_path: Path) -> None:
    told = found(tmp_path, TRAIN)
    assert told.title.endswith("; the forward at train.py:3 is the second one before backward")
    assert told.fix is not None
    assert told.fix.text.startswith("put both inputs through one forward (torch.cat)")


@pytest.mark.parametrize(
    ("decorator", "guard"),
    [("@torch.no_grad()", ""), ("@torch.inference_mode()", ""), ("@timed", "with torch.no_grad(): ")],
)
def test_a_buffer_that_each_forward_writes_is_told_before_the_second_forward(
    tmp_path: Path, decorator: str, guard: str
) -> None:
    told = found(tmp_path, REFRESHED.format(decorator=decorator, guard=guard) + TRAIN)
    assert told.title.endswith(": self.sigma.copy_(norm(self.weight)) at train.py:4")
    assert told.fix is not None
    assert told.fix.text.startswith("write it out of place or on a clone: self.sigma.copy_(norm(self.weight))")
