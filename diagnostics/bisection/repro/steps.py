"""The lines of a script that take its training steps. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diagnostics.bisection.repro.plan import Plan
from diagnostics.bisection.trial import Kind


def steps(plan: Plan) -> list[str]:
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


def _micro_steps(plan: Plan) -> list[str]:
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


def _synced(plan: Plan, lines: Sequence[str]) -> list[str]:
    match plan.settings.wrapper:
        case "ddp" | "fsdp1":
            return ["with contextlib.nullcontext() if last else model.no_sync():", *indented(lines)]
        case "fabric":
            return ["with fabric.no_backward_sync(model, enabled=not last):", *indented(lines)]
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


def loss_text(plan: Plan) -> str:
    """Returns the loss as an expression of `output`."""
    return plan.plain_loss or "loss_of(output)"


def indented(lines: Iterable[str]) -> list[str]:
    """Returns the lines one level deeper."""
    return [f"    {line}" if line else line for line in lines]
