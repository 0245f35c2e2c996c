"""An exception that ended a try, as plain values."""

import os
import traceback
from pathlib import Path

import torch

OURS = str(Path(__file__).resolve().parent.parent) + os.sep
AGENT = str(Path(__file__).resolve().parent.parent.parent / "agent") + os.sep
MAX_TEXT = 20000
MAX_FRAMES = 300  # of a recursion without end


def described(error, paths):
    """Returns type, text, frames that are not ours, and the innermost module that was open; `paths`: id -> path."""
    module = innermost_module(error.__traceback__, paths)
    return {
        "type": type(error).__name__,
        "message": text_of(error)[:MAX_TEXT],
        "frames": frames(error.__traceback__),
        "module": paths.get(id(module)) if module is not None else None,
        "module_class": type(module).__name__ if module is not None else "",
        "traceback": "".join(traceback.format_exception(type(error), error, error.__traceback__))[-MAX_TEXT:],
    }


def text_of(error):
    """Returns an exception's text, also where its own class cannot say it."""
    try:
        return str(error)
    except Exception as other:
        return "(its text raised %s)" % type(other).__name__


def frames(trace):
    """Returns [file, line, function] of each frame that is neither ours nor the agent's, innermost last."""
    found = []
    for frame, line in traceback.walk_tb(trace):
        file = frame.f_code.co_filename
        file = file if file.startswith("<") else str(Path(file).absolute())
        if not is_ours(file):
            found.append([file, line, frame.f_code.co_name])
    return found[-MAX_FRAMES:]


def is_ours(file):
    """Whether a frame's file is one of ours or of the agent."""
    return file.startswith((OURS, AGENT))


def innermost_module(trace, paths):
    """Returns the innermost `self` that is a module; one of the model's before any other, such as a wrapper."""
    known = other = None
    for frame, _ in traceback.walk_tb(trace):
        owner = frame.f_locals.get("self")
        if isinstance(owner, torch.nn.Module):
            other = owner
            known = owner if id(owner) in paths else known
    return known if known is not None else other
