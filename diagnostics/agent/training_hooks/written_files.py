"""Checkpoints that are written and read: which file, from when to when, whether the state of a model in it is empty."""

from __future__ import annotations

import os

from ..shared.redaction import hide
from ..torch_hooks.file_io import file_of
from ..torch_hooks.wrapped_models import own_frames

SAVE, LOAD = "torch.save", "torch.load"
MOST = 60  # files
_COUNTERS = ("global_step", "step", "iteration", "iter", "it", "epoch")
_STATES = ("model", "state_dict", "model_state_dict")


def watch(marks):
    """Has the agent tell of each file that torch.save and torch.load are done with."""
    told = []

    def done(function, args, kwargs, result, began, frame):
        try:
            marks.loads += function == LOAD
            if function == LOAD:
                if not marks.steps:
                    marks.read_names.read(result)
                marks.resumed.read(result, file_of(args, kwargs), frame)
            if function == SAVE and not marks.broken:
                content, file = args[0] if args else kwargs.get("obj"), file_of(args[1:], kwargs)
                marks.states.saved(content, file, frame)
                marks.untrained.saved(content, hide(file or ""), frame)
                marks.statistics.saved(content, hide(file or ""), frame)
            if len(told) >= MOST or marks.broken:
                return
            if function == SAVE:
                _tell(marks, told, args, kwargs, began, frame)
            elif function == LOAD and not marks.steps:
                _tell_read(marks, told, args, kwargs, result, frame)
        except Exception:
            told.append("")  # nothing is known of this file

    marks.agent.at_fork.append(told.clear)
    marks.agent.on_file = done


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
