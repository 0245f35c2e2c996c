"""Lines of the job's own code: where it is now, and where something of it is defined."""

import os
import sys

from ..frames import is_library

_DOCTORS = (
    os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "children") + os.sep
)
_WRAPPED = 10  # functions around one another


def user_line():
    """Returns "file:line" of the innermost frame of the job's own code, "" where only the doctor's is at work."""
    frame = sys._getframe(1)
    outer = ""
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_library(name) and not name.startswith(_DOCTORS):
            here = "%s:%d" % (name, frame.f_lineno)
            if "site-packages" not in name and "dist-packages" not in name:
                return here
            outer = outer or here
        frame = frame.f_back
    return outer


def definition_line(called):
    """Returns "file:line" of a function, or of a module's forward, "" where the job's code does not define it."""
    for _ in range(_WRAPPED):
        inner = getattr(called, "func", None) or getattr(called, "__wrapped__", None)  # partial; a decorated function
        if inner is None:
            break
        called = inner
    for one in (called, getattr(type(called), "forward", None), vars(type(called)).get("__call__")):
        code = getattr(one, "__code__", None)
        if code is not None and not is_library(code.co_filename) and "-packages" not in code.co_filename:
            return "%s:%d" % (code.co_filename, code.co_firstlineno)
    return ""
