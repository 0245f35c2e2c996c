"""The lines of a script that take its training steps. Pure.

The lines of a script that wrap its model as the failure needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from diagnostics.bisection.repro.plan import BEFORE_FORWARD, ScriptPlan
from diagnostics.bisection.trial import FailureKind


def steps(plan: ScriptPlan) -> list[str]:
    """Returns the steps, from the batch to the checks of what they must give."""
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
    return [*lines, f"for _ in range({plan.steps}):", *indented(inner)]


def _micro_steps(plan: ScriptPlan) -> list[str]:
    settings = plan.settings
    called = "compiled" if settings.compile else "model"
    inputs = ["*next(batches)"] if settings.workers else plan.inputs
    calls = [f"{called}({one})" for one in inputs]
    lines = (
        [f"output = {calls[0]}" if len(calls) == 1 else f"output = [{', '.join(calls)}]"] if plan.backward else calls
    )
    if plan.backward:
        lines.append(f"loss = {loss_text(plan)}")
    if settings.amp:
        kind = settings.device.partition(":")[0]
        lines = [f'with torch.autocast("{kind}", dtype=torch.{settings.amp}):', *indented(lines)]
    if plan.backward:
        lines += _checks(plan, "loss")
        share = f"(loss / {settings.accumulate})" if settings.accumulate > 1 else "loss"
        lines.append(f"fabric.backward({share})" if settings.wrapper == "fabric" else f"{share}.backward()")
    if settings.accumulate > 1:
        return [f"for last in {tuple([False] * (settings.accumulate - 1) + [True])}:", *indented(_synced(plan, lines)),
                *_checks(plan, "gradient")]  # fmt: skip
    return [*lines, *(_checks(plan, "gradient") if plan.backward else [])]


def _synced(plan: ScriptPlan, lines: Sequence[str]) -> list[str]:
    match plan.settings.wrapper:
        case "ddp" | "fsdp1":
            return ["with contextlib.nullcontext() if last else model.no_sync():", *indented(lines)]
        case "fabric":
            return ["with fabric.no_backward_sync(model, enabled=not last):", *indented(lines)]
        case "fsdp2":
            return ["model.set_requires_gradient_sync(last)", *lines]
    return list(lines)


def _checks(plan: ScriptPlan, what: str) -> list[str]:
    failure = plan.failure
    if failure.kind is FailureKind.NONFINITE and failure.detail == what:
        if what == "loss":
            return ["if not torch.isfinite(loss):", '    raise FloatingPointError("loss is not a number")']
        value = "one.grad" if what == "gradient" else "one"
        there = "one.grad is not None and " if what == "gradient" else ""
        return [
            "for name, one in model.named_parameters():",
            f"    if {there}not torch.isfinite({value}).all():",
            f'        raise FloatingPointError(f"{what} of {{name}} is not a number")',
        ]
    if failure.kind is FailureKind.DISAGREE and failure.detail == f"{what}s":
        value = "one.grad" if what == "gradient" else "one.detach()"
        return [
            f"everyone = [None] * {plan.settings.world}",
            f"dist.all_gather_object(everyone, [{value} for one in model.parameters()])",
            "for mine, first in zip(everyone[rank], everyone[0]):",
            "    same = mine is first or (mine is not None and first is not None and torch.equal(mine, first))",
            f'    assert same, "{what}s differ between the ranks"',
        ]
    return []


def loss_text(plan: ScriptPlan) -> str:
    """Returns the loss as an expression of `output`."""
    return plan.plain_loss or "loss_of(output)"


def indented(lines: Iterable[str]) -> list[str]:
    """Returns the lines one level deeper."""
    return [f"    {line}" if line else line for line in lines]


def wrapping(plan: ScriptPlan) -> Iterator[str]:
    """Returns what makes `model` the wrapped one, with its optimizer."""
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
