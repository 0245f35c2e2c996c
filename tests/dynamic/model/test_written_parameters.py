"""Where a program writes a parameter once it was made, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.dynamic.replicas.written_parameters import parameter_writes
from tests.hand_made import a_job, a_process

PROGRAM = """\
class Norm(nn.Module):
    def __init__(self):
        self.loc = nn.Parameter(torch.zeros(3))
        self.loc.data.copy_(torch.randn(3))
    def forward(self, x):
        if not self.ready:
            {line}
        return x + self.loc
def late(net):
    {other}
"""


@pytest.mark.parametrize(
    ("line", "other", "lines"),
    [
        ("self.loc.data.copy_(-x.mean(0))", "pass", [7]),
        ("self.loc.data = -x.mean(0)", "pass", [7]),
        ("self.loc[0] += 1", "pass", [7]),
        ("nn.init.normal_(self.loc)", "pass", [7]),
        ("pass", "net.module.layers[0].loc.data.zero_()", [10]),
        ("self.loc.requires_grad_(False)", "net.loc.grad.zero_()", []),
        ("self.local.copy_(self.loc)", "loc.zero_()", []),
        ("y = self.loc.clone()", "net.other.loc.zero_()", []),
    ],
)
def test_a_write_is_told_from_the_constructor_from_reading_and_from_other_names(
    tmp_path: Path, line: str, other: str, lines: list[int]
) -> None:
    process = a_process(cwd=str(tmp_path))
    job = a_job(process, cwd=tmp_path, files={"train.py": PROGRAM.format(line=line, other=other)})
    found = parameter_writes(job, process, {"flow.layers.0.loc"})
    assert [one.line for one in found] == lines
