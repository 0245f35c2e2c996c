"""Takes the steps of one model: forward, loss, backward; no optimizer, so that each step starts from like weights."""

import inspect
import sys

import torch

from .effects import Effects
from .kept import kept_graphs
from .made import definition
from .memory import sharing
from .places import of_traceback
from .refusal import Refusal
from .table import modules, tensors
from .targets import as_call, check_call, first_line
from .values import loss_of, moved, named_tensors, same
from .watch import Watch, Watching

MODIFIED = "modified by an inplace operation"


def announce(phase):
    """Tells the doctor's agent, where one is in this process, what begins now."""
    agent = sys.modules.get("_ups_doctor_agent")
    if agent is not None:
        agent.mark(phase)


def inspect_steps(name, model, following, steps, device):
    """Returns all that is seen of `model` in that many steps; `following()` gives a batch."""
    model.train()
    if device:
        announce("moving %s to %s" % (name, device))
        model.to(device)
    first = call_of(model, name, following(), device)
    _make_lazy_parameters(model, first)
    effects, seen, limited = Effects(steps), [], ""
    call = first
    for number in range(1, steps + 1):
        if number > 1:
            call = call_of(model, name, following(), device)
        effects.prepare(number)
        step, reason = observed_step(model, call, number, effects, light=bool(limited))
        limited = limited or reason
        seen.append(step)
        if step["error"] is not None:
            break
    return {
        "class_name": type(model).__name__,
        "place": definition(model, ""),
        "modules": modules(model),
        "module_count": sum(1 for _ in model.modules()),
        "tensors": tensors(model),
        "sharing": sharing(model),
        "steps": seen,
        "effects": effects.described() if effects.changed else [],
        "same_batches": _alike(first, call),
        "limited": limited,
    }


def call_of(model, name, batch, device):
    """Returns the arguments of one call, as (args, kwargs)."""
    args, kwargs = as_call(model, moved(batch, device) if device else batch)
    check_call(model, name, args, kwargs)
    return args, kwargs


def _make_lazy_parameters(model, call):
    if any(isinstance(one, torch.nn.parameter.UninitializedTensorMixin) for one in model.parameters()):
        with torch.no_grad():
            model(*call[0], **call[1])


def _alike(first, last):
    ones, others = list(named_tensors(first)), list(named_tensors(last))
    pairs = ((one, others[index][1]) for index, (_, one) in enumerate(ones))
    return len(ones) == len(others) and all(same(one, other) for one, other in pairs)


def observed_step(model, call, number, effects, light):
    """Returns what was seen of one step, and why only the modules could be watched, "" where all was.

    An exception counts only where it comes without our watching too.
    """
    step, error = one_step(model, call, number, effects, light)
    if error is None and not step["overwritten"]:
        return step, ""
    if light:
        step["error"] = error
        return step, ""
    plain, error_without = one_step(model, call, number, effects, light=True)
    text = error_without["text"] if error_without is not None else ""
    if error is None:
        step["overwritten"] = step["overwritten"] if MODIFIED in text else []
        step["overwritten_error"] = text
        return step, ""
    if error_without is not None:
        step["error"] = error_without if error_without["place"] else error
        return step, ""
    return plain, "operations could not be watched: %s" % error["text"]


def one_step(model, call, number, effects, light):
    """Takes one step; returns what was seen and the exception that ended it, as plain values."""
    args, kwargs = call
    inputs = list(named_inputs(model, args, kwargs))
    watch = Watch(model, inputs)
    identities = {name: id(one) for name, one in model.named_parameters()}
    model.zero_grad(set_to_none=True)
    error, output_has_gradient = None, False
    try:
        with Watching(watch, light):
            announce("step %d: forward" % number)
            output = model(*args, **kwargs)
            effects.note(number, model, watch.before)
            watch.phase = "loss"
            loss = loss_of(output)
            output_has_gradient = loss is not None
            watch.phase = "backward"
            announce("step %d: backward" % number)
            if loss is not None:
                loss.backward()
    except Refusal:
        raise
    except Exception as raised:
        error = described(raised, watch)
    return {
        "calls": watch.calls,
        "writes": [plain_write(one) for one in watch.writes if one["kind"]],
        "inputs_changed": _inputs_changed(watch, inputs),
        "overwritten": [{**one, "write": plain_write(one["write"])} for one in watch.overwritten],
        "overwritten_error": "",
        "output_has_gradient": output_has_gradient,
        "with_gradient": [name for name, one in model.named_parameters() if one.grad is not None],
        "replaced": [
            {"name": name, "place": definition(model, name)}
            for name, one in model.named_parameters()
            if identities.get(name, id(one)) != id(one)
        ],
        "error": None,
    }, error and {**error, "kept": kept_graphs(model)}


def named_inputs(model, args, kwargs):
    """Yields (name, tensor) of what forward is given, by the names of its parameters: "batch['mask']"."""
    try:
        given = inspect.signature(model.forward).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        given = {"arguments": args, **kwargs}
    for name, value in given.items():
        yield from named_tensors(value, name)


def plain_write(write):
    """Returns a write without what is of use in this process only."""
    hidden = ("order", "storage")
    return {key: value for key, value in write.items() if key not in hidden} if write else None


def _inputs_changed(watch, inputs):
    current = dict(inputs)
    return [
        {"name": name, "floating": content.is_floating_point()}
        for (kind, name), content in watch.before.items()
        if kind == "input" and not same(content, current[name].detach())
    ]


def described(raised, watch):
    """Returns an exception as plain values: where it was raised, in which module, in which phase."""
    place, module = of_traceback(raised.__traceback__)
    return {
        "type": type(raised).__name__,
        "text": first_line(raised),
        "place": place,
        "module": watch.paths.get(id(module), "") if module is not None else "",
        "phase": watch.phase,
    }
