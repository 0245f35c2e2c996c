"""Checkpoints as they are written: which file, from when to when, and whether the state of a model in it is empty."""

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
_STATES = ("model", "state_dict", "model_state_dict", "net", "module", "weights")


def watch(marks):
    """Wraps torch.save once more, inside of what tells of failures."""
    when_imported(MODULES[0], lambda: _watch_save(marks))


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
    wrapped = disguised(save, original)
    for name in MODULES:
        if vars(sys.modules.get(name, sys)).get("save") is original:
            sys.modules[name].save = wrapped


def _tell(marks, told, args, kwargs, began, frame):
    file = file_of(args[1:], kwargs)
    if not file or file.startswith("<"):
        return
    told.append(file)
    content = args[0] if args else kwargs.get("obj")
    marks.tell(
        "saved", file=hide(os.path.realpath(file)), began=began, empty=_is_empty(content), step=marks.steps,
        at=own_frames(frame),
    )  # fmt: skip


def _is_empty(content):
    """Whether what is a state of a model by its name, or the whole, is a dictionary without entries."""
    if type(content).__name__ not in ("dict", "OrderedDict"):
        return False
    return not content or any(_is_bare(content[name]) for name in _STATES if name in content)


def _is_bare(value):
    return type(value).__name__ in ("dict", "OrderedDict") and not value
