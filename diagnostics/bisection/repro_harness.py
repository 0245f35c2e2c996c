"""The part of a script that runs a model under given settings, in as few lines as those need. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostics.bisection.case import Settings
from diagnostics.bisection.trial import Failure, Kind

BEFORE_BACKWARD = ("import", "construct", "batch", "edit", "group", "move", "wrap", "forward")
BEFORE_FORWARD = BEFORE_BACKWARD[:-1]
RESERVED = frozenset(
    ["torch", "os", "sys", "tempfile", "faulthandler", "contextlib", "functools", "dist", "mp", "main", "model", "args",
     "output", "loss", "optimizer", "rank", "store", "ranks", "stand_in", "made", "tree_leaves", "loss_of", "forward",
     "DataLoader", "checkpoint", "fully_shard", "DistributedDataParallel", "FullyShardedDataParallel", "Fabric",
     "blocks", "items", "holds_others"]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be run: statements that bind `model`, and what stands between the brackets of its calls."""

    settings: Settings
    failure: Failure
    build: tuple[str, ...]
    inputs: tuple[str, ...]  # one for each call
    output: Mapping[str, Any] | None = None  # what the model gives, as recorded
    units: tuple[str, ...] = ()  # paths that a sharding wrapper takes one by one
    group: bool = False  # the model asks for the process group
    environ: bool = False  # the model asks for RANK and the like
    seed: int = 0
    limit_s: int = 60

    @property
    def steps(self) -> int:
        """How many steps it takes."""
        return self.settings.steps

    @property
    def backward(self) -> bool:
        """Whether the failure needs a backward pass."""
        several = self.settings.steps * self.settings.accumulate > 1
        return (
            several or self.failure.phase not in BEFORE_BACKWARD or self.failure.kind in (Kind.DISAGREE, Kind.NONFINITE)
        )

    @property
    def forward(self) -> bool:
        """Whether the failure needs a forward."""
        return self.failure.phase not in BEFORE_FORWARD or self.failure.kind in (Kind.DISAGREE, Kind.NONFINITE)

    @property
    def optimizer(self) -> bool:
        """Whether the failure needs the optimizer."""
        late = self.failure.phase in ("optimizer", "end") or self.failure.detail == "parameter"
        return self.backward and (self.settings.steps > 1 or late)

    @property
    def in_group(self) -> bool:
        """Whether there is a process group."""
        return self.settings.world > 1 or self.settings.wrapper != "none" or self.group

    @property
    def plain_loss(self) -> str:
        """The loss of an output of known kind, "" where it must be looked for."""
        told = self.output or {}
        if len(self.inputs) > 1 or "model = Held(model)" in self.build:
            return ""
        if told.get("kind") == "tensor" and told["dtype"].startswith(("float", "bfloat")):
            return "output.float().mean()"
        names = dict(zip(told.get("names", ()), told.get("items", ()), strict=False))
        own = names.get("loss", {})
        if own.get("kind") == "tensor" and own.get("grad"):
            return "output['loss'].float().mean()" if told["kind"] == "dict" else "output.loss.float().mean()"
        if told.get("kind") == "object":
            return "loss_of(vars(output))"
        return ""


def environment_lines(settings: Settings) -> list[str]:
    """Returns what must be set before torch is imported."""
    given = dict(settings.env)
    return ["import os", "", f"os.environ.update({given!r})", ""] if given else []


def import_lines(plan: Plan) -> list[str]:
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


def main_lines(plan: Plan) -> list[str]:
    """Returns main() and what starts it."""
    head = "def main(rank, store):" if plan.in_group else "def main():"
    body = [*_opening(plan), *plan.build, *_wrapping(plan)]
    if plan.forward:
        body += _steps(plan)
    if plan.in_group:
        body += (
            ["dist.barrier()", "dist.destroy_process_group()"]
            if plan.settings.world > 1
            else ["dist.destroy_process_group()"]
        )
    own_loss = [*LOSS.splitlines(), "", ""] if plan.backward and "loss_of(" in _loss(plan) else []
    own_blocks = [*BLOCKS.splitlines(), "", ""] if plan.settings.checkpointing else []
    return [*own_loss, *own_blocks, head, *_indented(body), "", "", *_start(plan)]


def _opening(plan: Plan) -> Iterator[str]:
    settings = plan.settings
    yield "faulthandler.enable()"
    if plan.failure.kind is Kind.HANG or plan.in_group:
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
    if settings.device != "cpu":
        yield f'torch.set_default_device("{settings.device}")'
    if settings.threads > 1:
        yield f"torch.set_num_threads({settings.threads})"
    yield f"torch.manual_seed({plan.seed})"


def _wrapping(plan: Plan) -> Iterator[str]:
    settings = plan.settings
    if settings.checkpointing:
        yield "for module in blocks(model):"
        yield "    module.forward = functools.partial(checkpoint, module.forward, use_reentrant=False)"
    if plan.failure.phase in BEFORE_FORWARD and plan.failure.phase != "wrap":
        return
    given = "".join(f", {name}={value!r}" for name, value in settings.options)
    match settings.wrapper:
        case "ddp":
            devices = ", device_ids=[torch.cuda.current_device()]" if settings.device.startswith("cuda") else ""
            yield f"model = DistributedDataParallel(model{devices}{given})"
        case "fsdp2":
            yield f'mesh = init_device_mesh("{settings.device.partition(":")[0]}", ({settings.world},))'
            if plan.units:
                yield f"for path in {list(plan.units)}:"
                yield f"    fully_shard(model.get_submodule(path), mesh=mesh{given})"
            yield f"fully_shard(model, mesh=mesh{given})"
        case "fsdp1":
            if plan.units:
                yield f"units = [model.get_submodule(path) for path in {list(plan.units)}]"
                yield "policy = functools.partial(lambda_auto_wrap_policy, lambda_fn=lambda one: one in units)"
                given = f", auto_wrap_policy=policy{given}"
            yield f'model = FullyShardedDataParallel(model, device_id=torch.device("{settings.device}"){given})'
        case "fabric":
            yield (
                "strategy = DDPStrategy(cluster_environment=TorchElasticEnvironment(), "
                f'process_group_backend="{settings.backend}"{given})'
            )
            kind = settings.device.partition(":")[0]
            yield f'fabric = Fabric(accelerator="{kind}", devices={settings.world}, strategy=strategy)'
            yield "fabric.launch()"
            yield "model = fabric.setup_module(model)"
    if plan.optimizer:
        yield "optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)"
    if settings.compile:
        yield "compiled = torch.compile(model)"


def _steps(plan: Plan) -> list[str]:
    settings = plan.settings
    lines = (
        [f"torch.manual_seed({plan.seed} + rank)" if plan.seed else "torch.manual_seed(rank)"] if plan.in_group else []
    )
    inner = _micro_steps(plan)
    if plan.optimizer:
        inner += ["optimizer.step()", *(["optimizer.zero_grad()"] if plan.steps > 1 else [])]
        inner += _checks(plan, "parameter")
    if settings.workers:
        count = plan.steps * settings.accumulate
        lines += [f"batches = [({plan.inputs[0]},) for _ in range({count})]"]
        lines += [f"batches = iter(DataLoader(batches, batch_size=None, num_workers={settings.workers}))"]
    if plan.steps == 1:
        return [*lines, *inner]
    return [*lines, f"for _ in range({plan.steps}):", *_indented(inner)]


def _micro_steps(plan: Plan) -> list[str]:
    settings = plan.settings
    called = "compiled" if settings.compile else "model"
    inputs = ["*next(batches)"] if settings.workers else plan.inputs
    calls = [f"{called}({one})" for one in inputs]
    lines = (
        [f"output = {calls[0]}" if len(calls) == 1 else f"output = [{', '.join(calls)}]"] if plan.backward else calls
    )
    if plan.backward:
        lines.append(f"loss = {_loss(plan)}")
    if settings.amp:
        kind = settings.device.partition(":")[0]
        lines = [f'with torch.autocast("{kind}", dtype=torch.{settings.amp}):', *_indented(lines)]
    if plan.backward:
        lines += _checks(plan, "loss")
        share = f"(loss / {settings.accumulate})" if settings.accumulate > 1 else "loss"
        lines.append(f"fabric.backward({share})" if settings.wrapper == "fabric" else f"{share}.backward()")
    if settings.accumulate > 1:
        return [f"for last in {tuple([False] * (settings.accumulate - 1) + [True])}:", *_indented(_synced(plan, lines)),
                *_checks(plan, "gradient")]  # fmt: skip
    return [*lines, *(_checks(plan, "gradient") if plan.backward else [])]


def _synced(plan: Plan, lines: Sequence[str]) -> list[str]:
    match plan.settings.wrapper:
        case "ddp" | "fsdp1":
            return ["with contextlib.nullcontext() if last else model.no_sync():", *_indented(lines)]
        case "fabric":
            return ["with fabric.no_backward_sync(model, enabled=not last):", *_indented(lines)]
        case "fsdp2":
            return ["model.set_requires_gradient_sync(last)", *lines]
    return list(lines)


def _checks(plan: Plan, what: str) -> list[str]:
    failure = plan.failure
    if failure.kind is Kind.NONFINITE and failure.detail == what:
        if what == "loss":
            return ["if not torch.isfinite(loss):", '    raise FloatingPointError("loss is not a number")']
        value = "one.grad" if what == "gradient" else "one"
        there = "one.grad is not None and " if what == "gradient" else ""
        return [
            "for name, one in model.named_parameters():",
            f"    if {there}not torch.isfinite({value}).all():",
            f'        raise FloatingPointError(f"{what} of {{name}} is not a number")',
        ]
    if failure.kind is Kind.DISAGREE and failure.detail == f"{what}s":
        value = "one.grad" if what == "gradient" else "one.detach()"
        return [
            f"everyone = [None] * {plan.settings.world}",
            f"dist.all_gather_object(everyone, [{value} for one in model.parameters()])",
            "for mine, first in zip(everyone[rank], everyone[0]):",
            "    same = mine is first or (mine is not None and first is not None and torch.equal(mine, first))",
            f'    assert same, "{what}s differ between the ranks"',
        ]
    return []


def _loss(plan: Plan) -> str:
    return plan.plain_loss or "loss_of(output)"


def _start(plan: Plan) -> Iterator[str]:
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


def _indented(lines: Sequence[str] | Iterator[str]) -> list[str]:
    return [f"    {line}" if line else line for line in lines]
