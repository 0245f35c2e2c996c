"""What a script calls its model with after the first call, until it goes backward: two views, a rollout, real and fake.

From the first call on the script runs on, so it must not come to anything that outlives it: it is ended at the first
exception, at a save, and when its time is up.
"""

from __future__ import annotations

import sys
import threading
import weakref

MOST_CALLS = 8  # of one step
SECONDS = 15.0  # for the calls of one step
ENDS_OF_LOOPS = (StopIteration, StopAsyncIteration, GeneratorExit)


class Following:
    """The later calls of one model; `finish` ends the process."""

    def __init__(self, root, write, finish):
        self.root, self.write, self.finish = weakref.ref(root), write, finish
        self.number, self.busy = 1, False

    def begin(self, frame):
        """Has the run end in time, and before any handler of the script sees an exception."""
        if sys.gettrace() is not None:  # a debugger, or a measurement of coverage
            self.finish()
        _without_core()
        while frame is not None:
            frame.f_trace, frame.f_trace_lines = self._event, False
            frame = frame.f_back
        sys.settrace(lambda *_: None)  # what is called from now on is not looked at; exceptions come up to here
        timer = threading.Timer(SECONDS, self.finish)
        timer.daemon = True
        timer.start()

    def again(self, args, kwargs):
        """The model is called once more."""
        self.number += 1
        self.busy = True
        try:
            whole = self.write(self.number, args, kwargs)
        finally:
            self.busy = False
        if not whole or self.number == MOST_CALLS:
            self.finish()

    def end(self):
        """Something comes that belongs to no forward."""
        if not self.busy:
            self.finish()

    def _event(self, frame, event, arg):
        if event == "exception" and not issubclass(arg[0], ENDS_OF_LOOPS):
            self.end()
        return self._event


def _without_core():
    """A forward that dies leaves no file of its memory behind."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    except (ImportError, OSError, ValueError):
        pass  # no such limit here
