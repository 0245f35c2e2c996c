"""Call paths: the frames of the job's own code, innermost first, each interned once."""

from __future__ import annotations

import os
import struct

from .patching import PLACE
from .shared import layout

_STDLIB = os.path.dirname(os.__file__) + os.sep
_AGENT = os.path.dirname(os.path.abspath(__file__)) + os.sep
_library = {}  # file name -> is it the standard library, torch or the agent


def is_library(filename):
    """Whether a frame of this file says nothing about the job: standard library, torch, import system, agent."""
    known = _library.get(filename)
    if known is None:
        packages = "site-packages" in filename or "dist-packages" in filename
        in_torch = packages and os.sep + "torch" + os.sep in filename
        known = is_stdlib(filename) or filename.startswith(_AGENT) or in_torch
        _library[filename] = known
    return known


def is_own(filename):
    """Whether a frame of this file is the agent's, or of what it put in the place of a function."""
    return filename == PLACE or filename.startswith(_AGENT)


def is_stdlib(filename):
    """Whether a frame of this file is the standard library's own, or the import system's."""
    packages = "site-packages" in filename or "dist-packages" in filename
    return filename.startswith("<frozen") or (filename.startswith(_STDLIB) and not packages)


class CallPaths:
    """Interns call paths in one strings area."""

    def __init__(self, strings):
        self._strings = strings
        self._frames = {}

    def of(self, frame):
        """Returns the id of the call path that ends in `frame`, 0 where it holds no frame of the job."""
        ids = []
        while frame is not None and len(ids) < layout.MAX_FRAMES:
            code = frame.f_code
            if not is_library(code.co_filename):
                ids.append(self._frame(code, frame.f_lineno))
            frame = frame.f_back
        return self._path(ids)

    def of_traceback(self, traceback, caller=None):
        """Returns the id of the call path along which an exception travelled so far, then from `caller` outwards."""
        ids = []
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if not is_library(code.co_filename):
                ids.append(self._frame(code, traceback.tb_lineno))
            traceback = traceback.tb_next
        ids.reverse()
        while caller is not None and len(ids) < layout.MAX_FRAMES:
            code = caller.f_code
            if not is_library(code.co_filename):
                ids.append(self._frame(code, caller.f_lineno))
            caller = caller.f_back
        return self._path(ids[: layout.MAX_FRAMES])

    def _path(self, ids):
        return self._strings.intern(struct.pack("<%dI" % len(ids), *ids)) if ids else 0

    def _frame(self, code, line):
        key = (code.co_filename, line, code.co_name)
        known = self._frames.get(key)
        if known is None:
            name = getattr(code, "co_qualname", code.co_name)
            text = "%s\0%d\0%s" % (code.co_filename, line or 0, name)
            known = self._strings.intern(text.encode("utf-8", "replace"))
            if known:
                self._frames[key] = known
        return known
