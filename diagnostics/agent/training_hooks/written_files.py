"""Checkpoints that are written and read: which file, from when to when, whether the state of a model in it is empty."""

from __future__ import annotations

import os
import sys
import time

from ..imports import when_imported
from ..patching import disguised
from ..shared.redaction import hide
from ..torch_hooks.file_io import file_of
from ..torch_hooks.wrapped_models import own_frames

MODULES = ("torch.serialization", "torch")
MOST = 60  # files
_COUNTERS = ("global_step", "step", "iteration", "iter", "it", "epoch")
_STATES = ("model", "state_dict", "model_state_dict")


def watch(marks):
    """Wraps torch.save and torch.load once more."""
    when_imported(MODULES[0], lambda: _watch_save(marks))
    when_imported(MODULES[0], lambda: _watch_load(marks))


def _watch_save(marks):
    original = sys.modules[MODULES[0]].save
    told = []

    def save(*args, **kwargs):
        began = time.monotonic_ns()
        result = original(*args, **kwargs)
        if len(told) < MOST and not marks.broken:
            try:
                _tell(marks, told, args, kwargs, began, sys._getframe(1))
            except Exception:
                told.append("")  # nothing is known of this file
        return result

    marks.agent.at_fork.append(told.clear)
    _replace("save", save, original)


def _watch_load(marks):
    original, told = sys.modules[MODULES[0]].load, []

    def load(*args, **kwargs):
        marks.loads += 1
        result = original(*args, **kwargs)
        if not marks.steps and not marks.broken and len(told) < MOST:
            try:
                _tell_read(marks, told, args, kwargs, result, sys._getframe(1))
            except Exception:
                told.append("")  # nothing is known of what is in it
        return result

    _replace("load", load, original)


def _replace(name, wrapper, original):
    wrapped = disguised(wrapper, original)
    for module in MODULES:
        if vars(sys.modules.get(module, sys)).get(name) is original:
            setattr(sys.modules[module], name, wrapped)


def _tell(marks, told, args, kwargs, began, frame):
    file = file_of(args[1:], kwargs)
    if not file or file.startswith(("<", "/dev/")):
        return
    told.append(file)
    content = args[0] if args else kwargs.get("obj")
    marks.tell(
        "saved", file=hide(os.path.realpath(file)), began=began, empty=_is_empty(content), step=marks.steps,
        counter=_counter_of(content), at=own_frames(frame),
    )  # fmt: skip


def _tell_read(marks, told, args, kwargs, content, frame):
    """Tells what a program that has made no step yet reads: a state to go on from, as a rule."""
    file, counter = file_of(args, kwargs), _counter_of(content)
    if file and not file.startswith("<") and (counter is not None or _has_optimizer(content)):
        told.append(file)
        marks.tell(
            "read", file=hide(os.path.realpath(file)), counter=counter, optimizer=_has_optimizer(content),
            at=own_frames(frame),
        )  # fmt: skip


def _counter_of(content):
    """Returns how far the training had come by what is in a checkpoint, None where it does not say so."""
    if type(content) is not dict:
        return None
    found = (content.get(name) for name in _COUNTERS)
    return next((one for one in found if type(one) is int and abs(one) < 1 << 53), None)


def _has_optimizer(content):
    """Whether the state of an optimizer that has made steps is in it."""
    values = content.values() if type(content) is dict else ()
    return any(type(one) is dict and one.get("state") and "param_groups" in one for one in values)


def _is_empty(content):
    """Whether what is a state of a model by its name, or the whole, is a dictionary without entries."""
    if type(content).__name__ == "OrderedDict":  # a state by itself; a dictionary may be anything
        return not content
    return type(content) is dict and any(_is_bare(content[name]) for name in _STATES if name in content)


def _is_bare(value):
    return type(value).__name__ in ("dict", "OrderedDict") and not value
