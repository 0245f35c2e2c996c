"""Which line of the user's code is running: "file:line" of the first frame that is not torch's and not ours."""

import os
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path

import torch

TORCH = str(Path(torch.__file__).parent) + os.sep
CHILDREN = str(Path(__file__).parent.parent) + os.sep
AGENT = str(Path(__file__).parent.parent.parent / "agent") + os.sep
# torch's own layers keep statistics and norms in place, by design; nn/init.py is called by users.
LAYERS = tuple(str(Path(TORCH, "nn", name)) for name in ("modules", "utils", "functional.py"))
STDLIB = sysconfig.get_path("stdlib") + os.sep
NOT_THE_USERS = (TORCH, CHILDREN, AGENT, "<")


def is_users(file):
    """Whether a frame's file is neither torch's nor the doctor's nor Python's import machinery."""
    return not file.startswith(NOT_THE_USERS) and not file.endswith(os.sep + "runpy.py")


def is_pythons(file):
    """Whether a file belongs to the standard library; packages that were installed lie below its folder, too."""
    return file.startswith(STDLIB) and not file.startswith((STDLIB + "site-packages", STDLIB + "dist-packages"))


@lru_cache(maxsize=None)
def absolute(file):
    """Returns the absolute path of a frame's file."""
    return str(Path(file).absolute())


def here():
    """Returns "file:line" of the innermost user frame of this thread, "" where there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return "%s:%d" % (absolute(frame.f_code.co_filename), frame.f_lineno)
        frame = frame.f_back
    return ""


def called_by_a_layer():
    """Whether the innermost frame that is not ours lies in one of torch's own layers."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((CHILDREN, AGENT)):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(LAYERS)


def of_traceback(traceback):
    """Returns "file:line" of the innermost user frame of a traceback, and the innermost `self` that is a module."""
    place, module = "", None
    while traceback is not None:
        frame = traceback.tb_frame
        file = frame.f_code.co_filename
        if is_users(file) and not is_pythons(file):  # an exception is raised in argparse for a line of the user's
            place = "%s:%d" % (absolute(file), traceback.tb_lineno)
        owner = frame.f_locals.get("self")
        if isinstance(owner, torch.nn.Module):
            module = owner
        traceback = traceback.tb_next
    return place, module
