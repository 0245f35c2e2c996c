"""Models that differ between ranks: the line that depends on the rank and leads to the model that is wrapped."""

from __future__ import annotations

from pathlib import Path

import hand_made as made
import pytest

from diagnostics.dynamic.model.model_divergence import model_difference

MAIN = """\
rank = dist.get_rank()
logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING)
tokens = Shard(load(rank))
{change}
net = Net(width)
{late}
if rank == 0: print(net)
model = DDP(net)
if rank == 0: keep(net)
"""


@pytest.mark.parametrize(
    ("change", "late", "line"),
    [
        ("width = sizes[rank::2].max()", "pass", "train.py:4"),
        ("width = 8", "if rank == 0: freeze(net)", "train.py:6"),
        ("width = 8", "if rank == 0: net.head.requires_grad_(False)", "train.py:6"),
    ],
)
def test_what_leads_to_the_wrapped_model_comes_before_other_uses_of_the_rank(
    tmp_path: Path, change: str, late: str, line: str
) -> None:
    file = f"{tmp_path}/train.py"
    ranks = [made.a_process(100 + rank, rank=rank, code=1, raised=(made.raised("RuntimeError: x", f"{file}:7"),))
             for rank in (0, 1)]  # fmt: skip
    job = made.a_job(*ranks, cwd=tmp_path, files={"train.py": MAIN.format(change=change, late=late)})
    assert model_difference(job, *ranks).locations[0] == line
