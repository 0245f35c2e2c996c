"""Answers a request: models by factory, or those that a trainer's adapter hands over; writes what was seen."""

import json
import runpy
import sys
import traceback
from pathlib import Path

import torch

from . import targets
from .made import watch_registrations
from .refusal import Refusal
from .steps import announce, inspect_steps

_state = {"request": {}, "models": []}


def run(request):
    """Answers the request; returns the exit code."""
    _state["request"] = request
    _check_device(request["device"])
    torch.manual_seed(0)
    watch_registrations()
    if "adapter" in request:
        sys.argv[1:] = request["adapter"]["argv"]
        runpy.run_module(request["adapter"]["module"], run_name="__main__", alter_sys=True)
        return 0
    for target in request["targets"]:
        _guarded(target["name"], lambda target=target: _from_factory(target))
    return 0


def _check_device(device):
    try:
        torch.empty(0, device=device or "cpu")
    except (RuntimeError, AssertionError) as error:
        sys.exit(_refuse("--device %s cannot be used: %s" % (device, targets.first_line(error))))


def _refuse(message):
    sys.stderr.write(message + "\n")
    return 2


def device():
    """Called by an adapter: the device that the user asked for, "" for the adapter's choice."""
    return _state["request"]["device"]


def inspect(name, model, batches, note=""):
    """Called by an adapter: inspects a model; `batches` is an iterable of what its forward takes.

    `note` is one sentence about them, such as that they are synthetic.
    """
    _guarded(name, lambda: _inspect(name, model, targets.cycling(name, batches), note))


def _from_factory(target):
    announce("building %s" % target["name"])
    model = targets.build(target["factory"])
    announce("making the batch")
    _inspect(target["name"], model, targets.batches(target["inputs"], model, type(model).__name__))


def _inspect(name, model, following, note=""):
    request = _state["request"]
    seen = inspect_steps(name, model, following, request["steps"], request["device"])
    _write({"name": name, "refusal": None, "seen": seen, "note": note})


def _guarded(name, work):
    try:
        work()
    except Refusal as refusal:
        cause = refusal.cause
        trace = "".join(traceback.format_exception(type(cause), cause, cause.__traceback__)) if cause else ""
        said = {"message": str(refusal), "hint": refusal.hint, "traceback": trace}
        _write({"name": name, "refusal": said, "seen": None, "note": ""})


def _write(model):
    """Adds a model to the answer and replaces the file in one step, so that a crash leaves the answer before it."""
    _state["models"].append(model)
    result = Path(_state["request"]["result"])
    temporary = result.with_name(result.name + ".tmp")
    temporary.write_text(json.dumps({"torch": torch.__version__, "models": _state["models"]}), encoding="utf-8")
    temporary.replace(result)
