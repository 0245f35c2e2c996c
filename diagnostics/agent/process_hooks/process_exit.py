"""How the process ends: sys.exit, os._exit, os.abort, exit handlers, and the interpreter's own exit."""

from __future__ import annotations

import atexit
import os
import sys

from .. import streams
from ..frames import is_library
from ..patching import replace


def watch(agent):
    """Records the ways out of this process; each still does what it did."""
    for owner, name in ((sys, "exit"), (os, "_exit"), (os, "abort")):
        replace(owner, name, before=_leaving(agent, "%s.%s" % (owner.__name__, name)))
    atexit.register(_at_exit, agent)
    replace(atexit, "register", before=_registering(agent))


def _leaving(agent, kind):
    def before(frame, args, kwargs):
        status = args[0] if args else kwargs.get("status")
        # Python shows any other object and ends with 1.
        value = int(status is not None)
        if isinstance(status, int):
            value = status if abs(status) < 1 << 31 else 0
        text = "" if status is None or isinstance(status, int) else str(type(status).__name__)
        # Left from a handler or a `finally`: what is on its way there is never seen again.
        error = sys.exc_info()[1]
        own = error is not None and not isinstance(error, SystemExit) and not is_library(frame.f_code.co_filename)
        if own:
            agent.exceptions.caught.tell(error, "caught")
        agent.event(kind, text, value=value, frame=frame, ending=True)
        if kind == "os._exit":
            streams.settle(flush=False)
            if not value:
                agent.ends_well()

    return before


def _registering(agent):
    def before(frame, args, kwargs):
        if args and not is_library(frame.f_code.co_filename):
            function = args[0]
            name = getattr(function, "__qualname__", type(function).__qualname__)
            agent.event("atexit", "%s.%s" % (getattr(function, "__module__", ""), name), frame=frame)

    return before


def _at_exit(agent):
    # A job that replaced sys.excepthook without calling the old one left its exception here.
    value = getattr(sys, "last_value", None)
    if value is not None and id(value) != agent.exceptions.last_uncaught:
        agent.exceptions.uncaught(type(value), value, getattr(sys, "last_traceback", None))
    dropped = agent.dropped()
    if dropped:
        agent.event("dropped", dropped, ending=True)
    agent.event("exit", ending=True)
    streams.settle()
    agent.ends_well()
