"""How the process ends: uncaught exceptions, sys.exit, os._exit, os.abort, and the interpreter's own exit."""

from __future__ import annotations

import atexit
import os
import sys


def watch(agent):
    """Records the ways out of this process; each still does what it did."""
    _watch_exceptions(agent)
    _watch_function(agent, sys, "exit")
    _watch_function(agent, os, "_exit")
    _watch_function(agent, os, "abort")
    atexit.register(_at_exit, agent)


def _watch_exceptions(agent):
    show = sys.excepthook

    def excepthook(kind, value, traceback):
        _exception(agent, kind, value, traceback)
        show(kind, value, traceback)

    # Both names, so that `sys.excepthook is sys.__excepthook__` still says: nobody replaced it.
    replaced = show is not sys.__excepthook__
    sys.excepthook = excepthook
    if not replaced:
        sys.__excepthook__ = excepthook


def _exception(agent, kind, value, traceback):
    agent.last_exception = id(value)
    try:
        text = "%s: %s" % (kind.__qualname__, value)
    except Exception:
        text = str(getattr(kind, "__name__", kind))
    agent.event("exception", text, traceback=traceback, ending=True)


def _watch_function(agent, owner, name):
    original = getattr(owner, name)
    kind = "%s.%s" % (owner.__name__, name)

    def leave(*args, **kwargs):
        status = args[0] if args else kwargs.get("status")
        value = status if isinstance(status, int) and abs(status) < 1 << 31 else 0
        text = "" if status is None or isinstance(status, int) else str(type(status).__name__)
        agent.event(kind, text, value=value, frame=sys._getframe(1), ending=True)
        return original(*args, **kwargs)

    leave.__name__ = leave.__qualname__ = name
    leave.__doc__ = original.__doc__
    setattr(owner, name, leave)


def _at_exit(agent):
    # A job that replaced sys.excepthook without calling the old one left its exception here.
    value = getattr(sys, "last_value", None)
    if value is not None and id(value) != getattr(agent, "last_exception", None):
        _exception(agent, type(value), value, getattr(sys, "last_traceback", None))
    agent.event("exit", ending=True)
