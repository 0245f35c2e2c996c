"""An operation that the installed torch lacks: ranks whose torch has it, and a doctor whose table has a row for it.

    def test_all_mix_is_one_call(with_operation):
        mixed = "def all_mix(tensor, group=None): return all_reduce(tensor, group=group)"
        assert with_operation(mixed, "dist.all_mix(torch.ones(2, 3))") == [("all_mix", "0", "2x3", "float32", None)]

An operation that stands in the table needs no more. What a row would do is tested with the row as third argument:
`Row("all_mix", "tensor group", SIZE)`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diagnostics

DOCTOR = Path(diagnostics.__file__).parent
# As if this torch had the function: its source with one more, before the agent sees it.
RANKS = """
import importlib.machinery, importlib.util, os, sys
NAME = "torch.distributed.distributed_c10d"
class Longer(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        super().exec_module(module)
        before = set(vars(module))
        exec(FUNCTION, vars(module))
        module.__all__ += set(vars(module)) - before
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != NAME:
            return None
        file = path[0] + "/distributed_c10d.py"
        return importlib.util.spec_from_file_location(name, file, loader=Longer(name, file))
sys.meta_path.insert(1, Finder)  # behind the agent's own, which asks it
import torch
import torch.distributed as dist
pids = []
for rank in range(2):
    pid = os.fork()
    if not pid:
        dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)
        exec(CALLS)
        dist.destroy_process_group()
        sys.exit(0)
    pids.append(pid)
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0 for pid in pids))
"""


def doctor_with_row(row: str, folder: Path) -> Path:
    """Returns a search path on which the doctor's table of operations begins with one row more."""
    package = folder / "diagnostics"
    shutil.copytree(DOCTOR / "agent", package / "agent", ignore=shutil.ignore_patterns("__pycache__"))
    for one in DOCTOR.iterdir():
        if one.name not in ("agent", "__pycache__"):
            (package / one.name).symlink_to(one)
    table = package / "agent/shared/operations.py"
    text = table.read_text(encoding="utf-8")
    assert text.count("\nTABLE = (\n") == 1
    table.write_text(text.replace("\nTABLE = (\n", f"\nTABLE = (\n    {row},\n" if row else "\nTABLE = (\n"))
    return folder


def told(watch: Callable[..., Any], function: str, calls: str, folder: Path, row: str = "") -> list[tuple[object, ...]]:
    """Returns (operation, group, shape, dtype, root) of each call, of which two ranks must have told the same."""
    source = f"FUNCTION = {function!r}\nCALLS = {calls!r}\n{RANKS}"
    env = {"PYTHONPATH": str(doctor_with_row(row, folder) / "diagnostics/agent/site")} if row else {}
    done = watch(source, env=env)
    assert done.returncode == 0, done.stderr
    one, other = (agent for agent in done.record.agents if agent.rank is not None)
    assert (one.groups, one.problems) == (other.groups, other.problems)
    first, second = (
        [(call.op, call.group, call.shape, call.dtype, call.root) for call in agent.collectives]
        for agent in (one, other)
    )
    assert first == second
    return [call for call in first if call[0] != "destroy_process_group"]
