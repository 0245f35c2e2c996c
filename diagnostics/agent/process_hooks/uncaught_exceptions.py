"""Exceptions that nobody caught: in the main thread, in others, and where they cannot be raised."""

from __future__ import annotations

import sys
from _thread import get_ident

from ..imports import when_imported
from ..shown_tracebacks import without_own

MAX_TEXT = 1500
MOST_READ = 16 * 1024  # characters of a message


def watch(agent):
    """Sees what arrives at sys.excepthook and sys.unraisablehook, and what is caught and then logged or printed."""
    agent.exceptions = exceptions = Exceptions(agent)
    _chain(sys, "excepthook", exceptions, exceptions.uncaught, lambda kind, value, traceback: (value, traceback))
    _chain(sys, "unraisablehook", exceptions, exceptions.unraisable, lambda one: (one.exc_value, one.exc_traceback))
    for module in ("traceback", "logging", "concurrent.futures._base", "multiprocessing.pool", "contextlib"):
        when_imported(module, lambda module=module: exceptions.caught.see(module))
    for module in ("builtins", "warnings"):  # what is no training may print as it likes
        when_imported("torch", lambda module=module: exceptions.caught.see(module))
    if hasattr(sys, "monitoring"):
        from . import monitored_exceptions

        monitored_exceptions.watch(agent, exceptions)
    agent.at_fork.append(exceptions.forget)


class Exceptions:
    """What this process has told of exceptions. It keeps no exception, traceback or frame alive."""

    def __init__(self, agent):
        self._agent = agent
        self.ways = []  # active ways of seeing exceptions that are caught
        self._said = False  # whether the file has them
        self.last_uncaught = None  # id() of it
        # Threads that show an exception nobody caught, or describe one: what happens there is no news.
        self.showing = set()
        self._caught = None
        self._came_out = None  # id of the exception that came out of a model last, and its slot

    @property
    def caught(self):
        """The recorder of caught exceptions, loaded when it is first needed."""
        if self._caught is None:
            from .caught_exceptions import Caught

            self._caught = Caught(self._agent, self)
        return self._caught

    def tell_unasked(self):
        """At a good end: records the exceptions in futures that nobody asked for."""
        if self._caught is not None and self._caught.unasked:
            self._caught.tell_unasked()

    def forget(self):
        """Starts over, as after a fork."""
        self.showing.clear()
        self._came_out = None
        if self._caught is not None:
            self._caught.forget()
        if self._said:
            self.say_ways()

    def say_ways(self):
        """Records which ways of seeing caught exceptions are active; done for a job, that is, with torch."""
        self._said = True
        self._agent.event("hooks", " ".join(sorted(self.ways)))

    def __enter__(self):
        """Begins the showing of an exception that was told of: formatting it is no news."""
        self.showing.add(get_ident())

    def __exit__(self, *error):
        """Ends the showing; what it raised goes on."""
        self.showing.discard(get_ident())

    def came_out(self, error):
        """Records one that came out of a model, a loader or a backward pass: who catches it may keep it to himself."""
        # A private one is how torch itself stops a recomputation early.
        if isinstance(error, Exception) and not type(error).__name__.startswith("_"):
            self._came_out = id(error), self.caught.tell(error, "forward")

    def uncaught(self, kind, value, traceback):
        """Records the exception that ends the main thread, and those it came from."""
        self.last_uncaught = id(value)
        if self._came_out is not None and self._came_out[0] == id(value) and self._came_out[1] is not None:
            self.caught.take_back(value, self._came_out[1])  # nobody caught it
        self._tell("exception", kind, value, traceback, ending=True)

    def in_thread(self, kind, value, traceback):
        """Records the exception that ends a thread."""
        if kind is not SystemExit:
            self._tell("thread-exception", kind, value, traceback)

    def unraisable(self, unraisable):
        """Records an exception in a destructor or callback, where it could not be raised."""
        self._tell("unraisable", unraisable.exc_type, unraisable.exc_value, unraisable.exc_traceback)

    @staticmethod
    def described(kind, value, limit):
        """Returns "Type: message", at most `limit` characters, without secrets. Calls the job's __str__."""
        try:
            name = kind.__qualname__
            message = str(value)
            message = message if len(message) <= MOST_READ else message[: 2 * limit]  # it may be as long as a tensor
        except Exception:
            return str(getattr(kind, "__name__", kind))
        try:
            from ..shared.redaction import hide
        except ImportError:  # the agent's folder is gone
            return name
        return _cut("%s: %s" % (name, hide(message)), limit)

    def _tell(self, event, kind, value, traceback, ending=False):
        try:
            with self:
                text = self.described(kind, value, MAX_TEXT)
            self._agent.event(event, text, traceback=traceback, ending=ending)
            if kind is RuntimeError and "did not receive grad" in str(value):
                from . import unused_parameters

                unused_parameters.tell(self._agent, str(value), traceback)
            if self._agent.locals is not None:
                self._agent.locals.tell(traceback)
            if value is not None:
                self.caught.chain_of(value, "caught")
        except Exception:
            pass  # an event less; the job goes on


def _chain(owner, name, exceptions, tell, raised):
    """Puts a hook of ours before the one that is there. `raised` takes exception and traceback from its arguments."""
    show = getattr(owner, name)

    def hook(*args):
        tell(*args)
        try:
            first = without_own(*raised(*args))
            args = (*args[:2], first) if len(args) == 3 else args
        except Exception:
            pass  # a frame of ours is shown; the job goes on
        with exceptions:
            show(*args)

    # Both names, so that `sys.excepthook is sys.__excepthook__` still says: nobody replaced it.
    default = "__%s__" % name
    replaced = show is not getattr(owner, default)
    hook.__name__ = hook.__qualname__ = name
    setattr(owner, name, hook)
    if not replaced:
        setattr(owner, default, hook)


def _cut(text, limit):
    """Returns at most `limit` characters: of many lines the first and the last, which names what was raised elsewhere.

    A data worker's or a remote exception holds a traceback, and its own type and message stand at the end of it.
    """
    if len(text) <= limit:
        return text
    half = limit // 2 - 2
    first, last = text[:half].rpartition("\n")[0], text[-half:].partition("\n")[2]
    return "%s\n...\n%s" % (first, last) if first and last else text[:limit]
