"""Which module is being constructed: every `Module.__init__` with the call path that led to it."""

from __future__ import annotations

import functools
import sys
from itertools import count

from ..frames import CallPaths, is_library
from ..shared import layout


def watch(module, is_compiling, activity):
    """Patches `module.__init__`. What it writes: the class and the call path, the attribute names are read later."""
    original, recorder = module.__init__, Constructions(activity)

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):  # noqa: N807
        if not is_compiling():
            recorder.add(type(self), sys._getframe(1))
        original(self, *args, **kwargs)
        if activity.made is not None and not is_compiling():
            activity.made(self)

    module.__init__ = __init__


class Constructions:
    """The ring of constructions of this process."""

    def __init__(self, activity):
        self._activity = activity
        self._strings = self._paths = None

    def add(self, kind, frame):
        """Writes that a constructor of `kind` began; never raises."""
        try:
            activity = self._activity
            if not activity.attached:
                activity.attach()
            if activity.strings is None:
                return
            if activity.strings is not self._strings:  # the first time, and in a forked child
                self._strings, self._paths, self._slots = activity.strings, CallPaths(activity.strings), count()
            text = "%s\0%d\0%d" % (kind.__qualname__, self._paths.of(frame), _own_frames(kind, frame))
            name = self._strings.intern(text.encode("utf-8", "replace"))
            word = activity.agent.ordered() << layout.SEQUENCE_SHIFT | name
            activity.constructed[next(self._slots) % layout.RING_SLOTS] = word
        except Exception:
            pass  # a construction nobody saw; the job goes on


def _own_frames(kind, frame):
    """Returns how many frames of the call path are constructors of this very object, its super().__init__() chain."""
    codes = [getattr(base.__dict__.get("__init__"), "__code__", None) for base in kind.__mro__]
    own, position = 0, len(codes)
    while frame is not None and frame.f_code in codes[:position]:
        position = codes.index(frame.f_code)  # outward means towards the derived class
        own += not is_library(frame.f_code.co_filename)
        frame = frame.f_back
    return own
