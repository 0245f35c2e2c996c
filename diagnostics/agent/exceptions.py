"""Exceptions: those nobody caught, in any thread, and those that were caught, logged or printed."""

from __future__ import annotations

import sys
from _thread import get_ident

from .frames import is_library
from .hiding import hide
from .imports import when_imported
from .wrapping import disguised, wrap_method

UNSEEN = ("StopIteration", "StopAsyncIteration", "GeneratorExit")  # how loops and generators end
MAX_TEXT, MAX_CAUGHT_TEXT = 1500, 500
MAX_CHAIN = 4
EACH_PLACE = 8  # of one kind at one line all are written, from then on each power of two
KEPT = 24  # the first caught ones are kept for good, and as many of the latest
REMEMBERED = 256
CAUGHT_TEXT_BYTES = 12 * 1024  # all in all; afterwards the type alone

# A file's last part, a function of it ("" any), and what it means that a traceback is formatted there.
FORMATTED_IN = (
    ("/torch/multiprocessing/spawn.py", "", "spawn"),
    ("/multiprocessing/process.py", "_bootstrap", "spawn"),
    ("/torch/_utils.py", "", "worker"),
    ("/multiprocessing/pool.py", "", "worker"),
    ("/concurrent/futures/process.py", "", "worker"),
    ("/logging/__init__.py", "", "logged"),
)
COMPILERS = ("/torch/_dynamo/", "/torch/_inductor/", "/torch/fx/", "/torch/_functorch/")  # they try and fall back


def watch(agent):
    """Sees what arrives at sys.excepthook, threads' ends, sys.unraisablehook, `logging` and `traceback`."""
    agent.exceptions = exceptions = Exceptions(agent)
    _chain(sys, "excepthook", exceptions, exceptions.uncaught)
    _chain(sys, "unraisablehook", exceptions, exceptions.unraisable)
    when_imported("threading", lambda: _watch_threads(sys.modules["threading"], exceptions))
    when_imported("traceback", lambda: _watch_traceback(sys.modules["traceback"], exceptions))
    when_imported("logging", lambda: _watch_logging(sys.modules["logging"], exceptions))
    if hasattr(sys, "monitoring"):
        from . import monitoring

        monitoring.watch(agent, exceptions)
    agent.at_fork.append(exceptions.forget)


class Exceptions:
    """What this process has told of exceptions. It keeps no exception, traceback or frame alive."""

    def __init__(self, agent):
        self._agent = agent
        self.ways = []  # active ways of seeing caught exceptions
        self._said = False  # whether the file has them
        self.last_uncaught = None  # id() of it
        self._showing = set()  # threads that show an exception nobody caught
        self._busy = set()  # threads that are describing one: their own exceptions are of no interest
        self.forget()

    def forget(self):
        """Starts over, as after a fork."""
        self._known, self._places, self._late, self._count = set(), {}, [], 0
        self._text_bytes = 0
        self._busy.clear()
        if self._said:
            self.say_ways()

    def __enter__(self):
        """Begins the showing of an exception that was told of: formatting it is no news."""
        self._showing.add(get_ident())

    def __exit__(self, *error):
        """Ends the showing; what it raised goes on."""
        self._showing.discard(get_ident())

    def say_ways(self):
        """Records which ways of seeing caught exceptions are active; done for a job, that is, with torch."""
        self._said = True
        self._agent.event("hooks", " ".join(sorted(self.ways)))

    def uncaught(self, kind, value, traceback):
        """Records the exception that ends the main thread, and those it came from."""
        self.last_uncaught = id(value)
        self._tell("exception", kind, value, traceback, ending=True)

    def in_thread(self, kind, value, traceback):
        """Records the exception that ends a thread."""
        if kind is not SystemExit:
            self._tell("thread-exception", kind, value, traceback)

    def unraisable(self, unraisable):
        """Records an exception in a destructor or callback, where it could not be raised."""
        self._tell("unraisable", unraisable.exc_type, unraisable.exc_value, unraisable.exc_traceback)

    def _tell(self, event, kind, value, traceback, ending=False):
        thread = get_ident()
        if thread in self._busy:
            return
        self._busy.add(thread)
        try:
            self._agent.event(event, _text(kind, value, MAX_TEXT), traceback=traceback, ending=ending)
            if self._agent.locals is not None:
                self._agent.locals.tell(traceback)
            self._chain_of(value, "caught")
        except Exception:
            pass  # an event less; the job goes on
        finally:
            self._busy.discard(thread)

    def caught(self, value, how, traceback=None):
        """Records an exception that somebody caught; returns its slot. Each one once for each `how`."""
        thread = get_ident()
        if thread in self._busy or thread in self._showing:
            return None
        self._busy.add(thread)
        try:
            slot = self._caught(value, how, traceback or value.__traceback__)
            self._chain_of(value, how)
            return slot
        except Exception:
            return None  # an event less; the job goes on
        finally:
            self._busy.discard(thread)

    def not_caught(self, value):
        """Forgets that `value` was told of as caught: it goes on, and may be caught further out."""
        self._known = {known for known in self._known if known[0] != id(value)}

    def _chain_of(self, value, how):
        """The exceptions that `value` came from: as a rule the last of them says more."""
        for _ in range(MAX_CHAIN):
            group = getattr(value, "exceptions", None)
            if isinstance(group, (tuple, list)):
                for member in group[:MAX_CHAIN]:
                    if isinstance(member, BaseException):
                        self._caught(member, how, member.__traceback__)
            value = value.__cause__ or (None if value.__suppress_context__ else value.__context__)
            if value is None:
                return
            self._caught(value, how, value.__traceback__)

    def _caught(self, value, how, traceback):
        kind = type(value)
        if traceback is None or kind.__name__ in UNSEEN:
            return None
        place = _place(kind, how, traceback)
        times = self._times(place)
        if times > EACH_PLACE and times & (times - 1):
            return None
        text = _text(kind, value, MAX_CAUGHT_TEXT)
        # The id alone may be that of an exception that is gone; a repetition of it is no loss.
        known = (id(value), text, place)
        if known in self._known:
            return None
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known.add(known)
        if self._text_bytes > CAUGHT_TEXT_BYTES:
            text = kind.__qualname__
        self._text_bytes += len(text)
        return self._write("how=%s | %s" % (how, text), times, traceback, ending=how == "spawn")

    def _times(self, place):
        """Returns how often an exception came from this place."""
        if len(self._places) >= REMEMBERED and place not in self._places:
            self._places.clear()
        times = self._places[place] = self._places.get(place, 0) + 1
        return times

    def _write(self, text, times, traceback, ending):
        """Writes one into a slot of its own, or over the oldest of the late ones; returns the slot."""
        if ending:
            return self._agent.event("caught", text, traceback=traceback, ending=True)
        over = None
        if self._count >= 2 * KEPT:
            over = self._late[self._count % KEPT]
        slot = self._agent.event("caught", text, value=times, traceback=traceback, over=over)
        if KEPT <= self._count < 2 * KEPT:
            self._late.append(slot)
        self._count += 1
        return slot


def _place(kind, how, traceback):
    """Returns the kind and the lines between which the exception travelled."""
    caught_at = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return (kind.__name__, how, traceback.tb_frame.f_code.co_filename, traceback.tb_lineno, *caught_at)


def _text(kind, value, limit):
    try:
        name = kind.__qualname__
        # A message may be as long as a tensor: what is hidden in the rest is not written either.
        return hide(("%s: %s" % (name, value))[: 2 * limit])[:limit]
    except Exception:
        return str(getattr(kind, "__name__", kind))


def _chain(owner, name, exceptions, tell):
    """Puts a hook of ours before the one that is there."""
    show = getattr(owner, name)

    def hook(*args):
        tell(*args)
        with exceptions:
            show(*args)

    # Both names, so that `sys.excepthook is sys.__excepthook__` still says: nobody replaced it.
    default = "__%s__" % name
    replaced = show is not getattr(owner, default)
    hook.__name__ = hook.__qualname__ = name
    setattr(owner, name, hook)
    if not replaced:
        setattr(owner, default, hook)


def _watch_threads(threading, exceptions):
    """Sees what ends a thread even where the job replaced threading.excepthook, and leaves that hook alone."""
    original = threading._make_invoke_excepthook

    def make():
        invoke = original()

        def invoke_excepthook(thread):
            exceptions.in_thread(*sys.exc_info())
            with exceptions:
                invoke(thread)

        return invoke_excepthook

    threading._make_invoke_excepthook = disguised(make, original)
    exceptions.ways.append("threading")


def _watch_traceback(traceback, exceptions):
    """Everything that formats a traceback makes a TracebackException: print_exc, logging, workers, launchers."""

    def formatted(frame, result, args, kwargs):
        value = args[2] if len(args) > 2 else kwargs.get("exc_value")
        if isinstance(value, BaseException):
            how = _formatted_for(frame)
            if how:
                exceptions.caught(value, how, args[3] if len(args) > 3 else kwargs.get("exc_traceback"))

    wrap_method(traceback.TracebackException, "__init__", after=formatted)
    exceptions.ways.append("traceback")


def _formatted_for(frame):
    while frame is not None and is_library(frame.f_code.co_filename):
        filename, function = frame.f_code.co_filename, frame.f_code.co_name
        for end, name, how in FORMATTED_IN:
            if filename.endswith(end) and name in ("", function):
                return how
        if any(part in filename for part in COMPILERS):
            return ""
        frame = frame.f_back
    return "printed"


def _watch_logging(logging, exceptions):
    """Sees what is logged with exc_info, and warnings and errors that are logged while an exception is handled."""
    warning = logging.WARNING

    def made(frame, result, args, kwargs):
        record = args[0]
        value = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if value is None and record.levelno >= warning:
            value = sys.exc_info()[1]
        if value is not None:
            exceptions.caught(value, "logged")

    wrap_method(logging.LogRecord, "__init__", after=made)
    exceptions.ways.append("logging")
