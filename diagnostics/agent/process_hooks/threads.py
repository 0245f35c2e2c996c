"""Threads: what ended them, where those were started that hold up the interpreter, and which it waits for."""

from __future__ import annotations

import sys

from ..frames import is_library
from ..patching import disguised, wrap_method
from ..shown_tracebacks import without_own
from .child_starts import dotted_target

MAX_KNOWN = 256


def watch(agent):
    """Records what ends a thread, non-daemon ones when they start, and those that threading._shutdown waits for."""
    threading = sys.modules["threading"]
    _see_exceptions(agent.exceptions, threading)
    started = {}  # ident -> id of the call path that started it
    daemons = {}  # ident -> "file:line" that started it
    targets = {}
    agent.at_fork.append(started.clear)
    agent.at_fork.append(daemons.clear)

    def starting(frame, args, kwargs):
        thread = args[0]
        if not thread.daemon and len(targets) < MAX_KNOWN:
            targets[id(thread)] = dotted_target(thread)  # the thread forgets it when it has run

    def has_started(frame, result, args, kwargs):
        thread = args[0]
        if thread.daemon:
            if len(daemons) >= MAX_KNOWN:
                daemons.clear()
            daemons[thread.ident] = "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)
            return
        if len(started) >= MAX_KNOWN:
            started.clear()
        path = started[thread.ident] = agent.path_of(frame)
        text = "ident=%d daemon=0 | %s %s" % (thread.ident, thread.name, targets.pop(id(thread), ""))
        agent.event("thread", text[:300], path=path)

    wrap_method(threading.Thread, "start", before=starting, after=has_started)
    original = threading._shutdown

    def _shutdown(*args, **kwargs):
        try:
            here = threading.get_ident()
            for ident, thread in list(threading._active.items()):
                if ident != here and not thread.daemon and thread is not threading.main_thread():
                    text = "daemon=0 | %s" % thread.name
                    agent.event("alive-at-end", text[:300], path=started.get(ident, 0), ending=True)
        except Exception:
            pass  # an event less; the interpreter ends as it would
        result = original(*args, **kwargs)
        try:
            _tell_daemons(agent, daemons)
        except Exception:
            pass  # an event less; the interpreter ends as it would
        return result

    threading._shutdown = disguised(_shutdown, original)


def _tell_daemons(agent, daemons):
    """Records where the daemon threads stand that the interpreter is about to cut off in the job's own code."""
    stacks = sys._current_frames()
    for ident, started in list(daemons.items())[-MAX_KNOWN:]:
        frame = stacks.get(ident)
        if frame is not None and not is_library(started.rpartition(":")[0]):
            agent.event("cut-off", started[-300:], frame=frame, ending=True)


def _see_exceptions(exceptions, threading):
    """Sees what ends a thread even where the job replaced threading.excepthook, and leaves that hook alone."""
    original = threading._make_invoke_excepthook

    def make():
        invoke = original()

        def invoke_excepthook(thread):
            kind, value, traceback = sys.exc_info()
            exceptions.in_thread(kind, value, traceback)
            try:
                without_own(value, traceback)
            except Exception:
                pass  # a frame of ours is shown; the job goes on
            del value, traceback
            with exceptions:
                invoke(thread)

        return invoke_excepthook

    threading._make_invoke_excepthook = disguised(make, original)
    exceptions.ways.append("threading")
