"""The part of a script that runs a model under given settings, in as few lines as those need. Pure.

Definitions that a script takes along where it needs them, and the names that its own code must not take.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.bisection.case import RunSettings
from diagnostics.bisection.repro.plan import ScriptPlan
from diagnostics.bisection.repro.steps import indented, loss_text, steps, wrapping
from diagnostics.bisection.trial import FailureKind

RESERVED = frozenset(
    ["torch", "os", "sys", "tempfile", "faulthandler", "contextlib", "functools", "dist", "mp", "main", "model", "args",
     "output", "loss", "optimizer", "rank", "store", "ranks", "stand_in", "made", "tree_leaves", "loss_of", "forward",
     "cut", "parting", "DataLoader", "checkpoint", "fully_shard", "DistributedDataParallel",
     "FullyShardedDataParallel", "Fabric", "blocks", "items", "holds_others"]
)  # fmt: skip
STAND_IN = '''def stand_in(module, make):
    """The failure needs what this module gives, not how: noise like it, with gradients to all inputs and weights."""

    def forward(*args, **kwargs):
        given = [*tree_leaves((args, kwargs)), *module.parameters()]
        floats = [one for one in given if isinstance(one, torch.Tensor) and one.is_floating_point()]
        return make(sum((one.float().sum() for one in floats), torch.zeros(())) * 0, *args)

    module.forward = forward'''
HELD = '''class Held(torch.nn.Module):
    """A module without parameters, with one: a wrapper demands it."""

    def __init__(self, module):
        super().__init__()
        self.module, self.weight = module, torch.nn.Parameter(torch.zeros(1))

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs), self.weight.sum()'''
LOSS = """def loss_of(output):
    tensors = [one for one in tree_leaves(output) if isinstance(one, torch.Tensor) and one.requires_grad]
    return sum(one.abs().float().mean() if one.is_complex() else one.float().mean() for one in tensors)"""
# As children/trial/cuts.py does.
CUT = '''def cut(container, places):
    """The failure needs only some of what this container holds."""
    kept = [list(container._modules.items())[place] for place in places]
    container._modules.clear()
    for number, (name, module) in enumerate(kept):
        container._modules[str(number) if isinstance(container, torch.nn.ModuleList) else name] = module'''
# What children/trial/checkpointing.py checkpoints.
BLOCKS = """def blocks(model):
    found = [one for one in items(model) if holds_others(one)]
    return found or [one for one in model.children() if holds_others(one)]


def items(module, listed=False):
    for child in module.children():
        called = type(child).forward is not torch.nn.Module.forward
        if called and listed:
            yield child
        else:
            yield from items(child, not called or isinstance(child, torch.nn.Sequential))


def holds_others(module):
    called = type(module).forward is not torch.nn.Module.forward
    return called and any(True for _ in module.children())"""
TREE_LEAVES = "from torch.utils._pytree import tree_leaves"


def environment_lines(settings: RunSettings) -> list[str]:
    """Returns what must be set before torch is imported."""
    given = dict(settings.env)
    return ["import os", "", f"os.environ.update({given!r})", ""] if given else []


def import_lines(plan: ScriptPlan) -> list[str]:
    """Returns the harness's own imports."""
    settings = plan.settings
    lines = ["import faulthandler", "import torch"]
    if plan.in_group:
        lines += ["import os", "import tempfile", "import torch.distributed as dist"]
    if plan.in_group and settings.world > 1:
        lines += ["import sys", "import torch.multiprocessing as mp"]
    if settings.accumulate > 1 and settings.wrapper in ("ddp", "fsdp1", "fabric"):
        lines.append("import contextlib")
    if settings.checkpointing:
        lines += ["import functools", "from torch.utils.checkpoint import checkpoint"]
    if settings.workers:
        lines.append("from torch.utils.data import DataLoader")
    if plan.backward and not plan.plain_loss:
        lines.append(TREE_LEAVES)
    if settings.wrapper == "fsdp1" and plan.units:
        lines += ["import functools", "from torch.distributed.fsdp.wrap import lambda_auto_wrap_policy"]
    wrappers = {
        "ddp": "from torch.nn.parallel import DistributedDataParallel",
        "fsdp1": "from torch.distributed.fsdp import FullyShardedDataParallel",
        "fsdp2": "from torch.distributed.fsdp import fully_shard",
        "fabric": "from lightning.fabric import Fabric",
    }
    if settings.wrapper in wrappers:
        lines.append(wrappers[settings.wrapper])
    if settings.wrapper == "fabric":
        lines.append("from lightning.fabric.plugins.environments import TorchElasticEnvironment")
        lines.append("from lightning.fabric.strategies import DDPStrategy")
    if settings.wrapper == "fsdp2":
        lines.append("from torch.distributed.device_mesh import init_device_mesh")
    return lines


def main_lines(plan: ScriptPlan) -> list[str]:
    """Returns main() and what starts it."""
    head = "def main(rank, store):" if plan.in_group else "def main():"
    body = [*_opening(plan), *plan.build, *wrapping(plan)]
    if plan.forward:
        body += steps(plan)
    if plan.in_group:
        body += (
            ["dist.barrier(parting)", "dist.destroy_process_group()"]
            if plan.settings.world > 1
            else ["dist.destroy_process_group()"]
        )
    own_loss = [*LOSS.splitlines(), "", ""] if plan.backward and "loss_of(" in loss_text(plan) else []
    own_blocks = [*BLOCKS.splitlines(), "", ""] if plan.settings.checkpointing else []
    return [*own_loss, *own_blocks, head, *indented(body), "", "", *_start(plan)]


def _opening(plan: ScriptPlan) -> Iterator[str]:
    settings = plan.settings
    yield "faulthandler.enable()"
    if plan.failure.kind is FailureKind.HANG or plan.in_group:
        yield f"faulthandler.dump_traceback_later({plan.limit_s}, exit=True)  # a hang ends with the stacks"
    if plan.in_group:
        if plan.environ or settings.wrapper == "fabric":
            world = settings.world
            yield f'os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="{world}")'
            yield 'os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")'
        if settings.device.startswith("cuda"):
            yield "torch.cuda.set_device(rank % torch.cuda.device_count())"
        place = f'init_method=f"file://{{store}}", rank=rank, world_size={settings.world}'
        yield f'dist.init_process_group("{settings.backend}", {place})'
        if settings.world > 1:
            yield 'parting = dist.new_group(backend="gloo")  # no barrier of a model meets its own'
    if settings.device != "cpu":
        yield f'torch.set_default_device("{settings.device}")'
    if settings.threads > 1:
        yield f"torch.set_num_threads({settings.threads})"
    yield f"torch.manual_seed({plan.seed})"


def _start(plan: ScriptPlan) -> Iterator[str]:
    yield 'if __name__ == "__main__":'
    if not plan.in_group:
        yield "    main()"
        yield '    print("it came to its end: no failure")'
        return
    yield '    store = os.path.join(tempfile.mkdtemp(), "store")'
    if plan.settings.world == 1:
        yield "    main(0, store)"
        yield '    print("it came to its end: no failure")'
        return
    yield (
        '    ranks = [mp.get_context("spawn").Process(target=main, args=(rank, store)) '
        f"for rank in range({plan.settings.world})]"
    )
    yield "    for one in ranks:"
    yield "        one.start()"
    yield "    for one in ranks:"
    yield "        one.join()"
    yield '    print("exit codes of the ranks:", [one.exitcode for one in ranks])'
    yield "    sys.exit(any(one.exitcode for one in ranks))"
