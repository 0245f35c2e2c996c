"""What a user's `make()` gives: a model, its loss, global batches, and where they want it, their own way to train."""

import inspect
import sys
from dataclasses import is_dataclass
from pathlib import Path

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from ..inspection import targets
from ..inspection.refusal import Refusal

KEYS = ("model", "loss", "batches", "optimizer", "wrap", "shard", "train_step", "reference_step", "clip", "accumulate")


class RefusedError(Exception):
    """What was named cannot be used; the argument is the sentence."""


def load(spec):
    """Returns what "module:make" or "path.py:make" names."""
    sys.path.insert(0, str(Path.cwd()))
    hook = register_optimizer_step_pre_hook(_trains)
    try:
        return targets.load(spec)
    except Refusal as refusal:
        raise RefusedError("; ".join(filter(None, (str(refusal), refusal.hint)))) from refusal
    finally:
        hook.remove()


def _trains(optimizer, args, kwargs):
    """Ends the import of a script that trains in it: its steps would be taken for those of the experiment."""
    raise SystemExit("it takes optimizer steps while it is imported")


def made(spec):
    """Calls the user's function and returns its parts by name, and itself as "make"."""
    make = load(spec)
    try:
        value = make()
    except (Exception, SystemExit) as error:
        raise RefusedError(str(targets.failed(spec, error))) from error
    if isinstance(value, tuple):
        value = dict(zip(("model", "loss", "batches", "optimizer"), value))  # noqa: B905 - strict came with 3.10
    elif is_dataclass(value):
        value = {name: getattr(value, name) for name in field_names(value)}
    if not isinstance(value, dict) or not isinstance(value.get("model"), torch.nn.Module):
        raise RefusedError("%s returned no (model, loss, batches) and no dict with these names" % spec)
    unknown = sorted(set(value) - set(KEYS))
    if unknown:
        raise RefusedError(
            "%s returned %r, which means nothing here; known are: %s" % (spec, unknown[0], ", ".join(KEYS))
        )
    for name in ("loss", "batches"):
        if value.get(name) is None and not (name == "loss" and value.get("reference_step")):
            raise RefusedError("%s returned no %s" % (spec, name))
    return {**value, "make": make}


def field_names(value):
    """Returns the fields of a dataclass."""
    return list(value.__dataclass_fields__)


def loss_of(given):
    """Returns `loss(model, batch)`; a criterion is called as criterion(model(inputs), target)."""
    loss = given["loss"]
    names = [] if isinstance(loss, torch.nn.Module) else _names(loss)
    if names[:1] in (["model"], ["module"], ["net"], ["m"]):
        return loss
    return lambda model, batch: loss(model(batch[0]), batch[1])


def _names(function):
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def optimizer_of(given, model):
    """Returns an optimizer over the parameters that the model has now."""
    made_one = given.get("optimizer")
    parameters = [one for one in model.parameters() if one.requires_grad]
    if made_one is None:
        return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
    if isinstance(made_one, torch.optim.Optimizer):
        held = {id(one) for group in made_one.param_groups for one in group["params"]}
        if held == {id(one) for one in parameters}:
            return made_one
        return type(made_one)(parameters, **made_one.defaults)
    return made_one(parameters)
