"""Exceptions that somebody caught: as they are logged, printed, or handed from a worker or spawned process."""

from __future__ import annotations

import sys
from _thread import get_ident
from weakref import WeakSet

from ..frames import is_library
from ..patching import replace, stand_in, wrap_method
from ..shown_tracebacks import unlinked

UNSEEN = ("StopIteration", "StopAsyncIteration", "GeneratorExit")  # how loops and generators end
MAX_TEXT = 500
MAX_TEXTS_BYTES = 12 * 1024  # all in all; afterwards the type alone
MAX_CHAIN = 4
EACH_PLACE = 8  # of one kind between the same lines all are written, from then on each power of two
KEPT = 24  # the first ones are kept for good, and as many of the latest
REMEMBERED = 256
MAX_UNASKED = 16

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


class Caught:
    """The `caught` events of this process; it keeps no exception, traceback or frame alive."""

    def __init__(self, agent, exceptions):
        self._agent, self._exceptions = agent, exceptions
        self.forget()

    def forget(self):
        """Starts over, as after a fork."""
        self._known, self._places = set(), {}
        self._slots, self._spare = [], []
        self._late = self._text_bytes = 0
        self.unasked = {}  # id of a future -> the exception in it that nobody asked for so far, and its path

    def see(self, module):
        """Hooks into an imported module of SEEN_IN."""
        way, see = SEEN_IN[module]
        see(self, sys.modules[module])
        self._exceptions.ways.append(way)

    def tell(self, error, how, traceback=None):
        """Records a caught exception and those it came from; returns its slot, None where it was not written."""
        showing = self._exceptions.showing
        if get_ident() in showing:
            return None
        try:
            with self._exceptions:
                slot = self._write(error, how, traceback or error.__traceback__)
                self._write_chain(error, how)
            return slot
        except Exception:
            return None  # an event less; the job goes on

    def chain_of(self, error, how):
        """Records the exceptions that `error` came from: as a rule the last of them says more."""
        with self._exceptions:
            self._write_chain(error, how)

    def keep(self, future, error):
        """Remembers what a future holds, as a text, until somebody asks for it."""
        if len(self.unasked) < MAX_UNASKED:
            with self._exceptions:
                text = self._exceptions.described(type(error), error, MAX_TEXT)
            self.unasked[id(future)] = text, self._agent.path_of_traceback(error.__traceback__)

    def tell_unasked(self):
        """At a good end: records what nobody asked for."""
        for text, path in self.unasked.values():
            self._agent.event("caught", "how=unasked | %s" % text, path=path)

    def take_back(self, error, slot):
        """Removes the event in `slot`: the exception goes on, and may be caught further out."""
        self._agent.file.lifecycle.retract(slot)
        self._spare.append(slot)
        self._known = {known for known in self._known if known[0] != id(error)}

    def _write_chain(self, error, how):
        for _ in range(MAX_CHAIN):
            for member in _members(error):
                self._write(member, how, member.__traceback__)
            if error.__cause__ is not None:  # an exception may forbid to be asked whether it is true
                error = error.__cause__
            else:
                error = None if error.__suppress_context__ else error.__context__
            if error is None:
                return
            self._write(error, how, error.__traceback__)

    def _write(self, error, how, traceback):
        kind = type(error)
        if traceback is None or kind.__name__ in UNSEEN:
            return None
        place = _place(kind, how, traceback)
        times = self._times(place)
        if times > EACH_PLACE and times & (times - 1):
            return None
        text = self._exceptions.described(kind, error, MAX_TEXT)
        # The id alone may be that of an exception that is gone; a repetition of it is no loss.
        known = (id(error), text, place)
        if known in self._known:
            return None
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known.add(known)
        if self._text_bytes > MAX_TEXTS_BYTES:
            text = kind.__qualname__
        self._text_bytes += len(text)
        caller = traceback.tb_frame.f_back if how == "forward" else None  # it goes on from there
        return self._event("how=%s | %s" % (how, text), times, traceback, how == "spawn", caller)

    def _times(self, place):
        """Returns how often an exception came from this place."""
        if len(self._places) >= REMEMBERED and place not in self._places:
            self._places.clear()
        times = self._places[place] = self._places.get(place, 0) + 1
        return times

    def _event(self, text, times, traceback, ending, caller):
        """Writes into a slot of its own, or over the oldest of the late ones; returns the slot."""
        if ending:  # the process leaves with it
            return self._agent.event("caught", text, traceback=traceback, ending=True)
        over = None
        if self._spare:
            over = self._spare.pop()
        elif len(self._slots) >= 2 * KEPT:
            over = self._slots[KEPT + self._late % KEPT]
            self._late += 1
        slot = self._agent.event("caught", text, value=times, traceback=traceback, frame=caller, over=over)
        if over is None and slot is not None:
            self._slots.append(slot)
        return slot


def _place(kind, how, traceback):
    """Returns the kind and the lines between which the exception travelled."""
    caught_at = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return (kind.__name__, how, traceback.tb_frame.f_code.co_filename, traceback.tb_lineno, *caught_at)


def _members(error, depth=MAX_CHAIN):
    """Yields the first exceptions that an exception group holds, those of groups inside it after their own group."""
    group = getattr(error, "exceptions", None)
    for member in group[:MAX_CHAIN] if depth and isinstance(group, (tuple, list)) else ():
        if isinstance(member, BaseException):
            yield member
            for inner in _members(member, depth - 1):
                yield inner


def _see_formatted(caught, traceback):
    """Everything that formats a traceback makes a TracebackException: print_exc, logging, workers, launchers."""

    def formatting(frame, args, kwargs):
        unlinked(args[3] if len(args) > 3 else kwargs.get("exc_traceback"))

    def formatted(frame, result, args, kwargs):
        error = args[2] if len(args) > 2 else kwargs.get("exc_value")
        if isinstance(error, BaseException):
            how = _formatted_for(frame)
            if how:
                caught.tell(error, how, args[3] if len(args) > 3 else kwargs.get("exc_traceback"))

    wrap_method(traceback.TracebackException, "__init__", before=formatting, after=formatted)


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


def _see_logged(caught, logging):
    """What is logged with exc_info, and warnings and errors that are logged while an exception is handled."""
    warning = logging.WARNING

    def made(frame, result, args, kwargs):
        record = args[0]
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if error is None and record.levelno >= warning:
            error = sys.exc_info()[1]
        if error is not None:
            caught.tell(error, "logged")

    wrap_method(logging.LogRecord, "__init__", after=made)


def _see_futures(caught, base):
    """What a thread of a pool raised: it is kept in a Future, which nobody may ever look at."""
    awaited = WeakSet()  # futures for which somebody waits, or waited, before they had anything

    def kept(frame, args, kwargs):
        error = args[1] if len(args) > 1 else kwargs.get("exception")
        if isinstance(error, BaseException):
            caught.tell(error, "caught")
            if args[0] not in awaited:
                caught.keep(args[0], error)

    def asked(frame, args, kwargs):
        if caught.unasked:
            caught.unasked.pop(id(args[0]), None)
        if not args[0].done():
            awaited.add(args[0])

    wrap_method(base.Future, "set_exception", before=kept)
    wrap_method(base.Future, "result", before=asked)
    wrap_method(base.Future, "exception", before=asked)


class _Places:
    """Counts what ended at each line of user code before anything is described: a loader may skip a million records."""

    def __init__(self):
        self._times = {}

    def is_new(self, error):
        """Whether an exception of this kind is to be told of at the line where it ended."""
        traceback = error.__traceback__
        if traceback is None:
            return False
        code = traceback.tb_frame.f_code
        place = (code, traceback.tb_lineno, type(error))
        times = self._times[place] = self._times.get(place, 0) + 1
        if len(self._times) > REMEMBERED:
            self._times.clear()
        if times > EACH_PLACE and times & (times - 1):
            return False
        return not is_library(code.co_filename) and "-packages" not in code.co_filename


def _see_printed(caught, builtins):
    """What user code prints a word about while it is handled: `except Exception as error: print("failed:", error)`."""
    if hasattr(sys, "monitoring"):
        return

    seen = _Places()

    def printing(frame, args, kwargs):
        error = sys.exc_info()[1]
        if error is not None and not is_library(frame.f_code.co_filename) and seen.is_new(error):
            caught.tell(error, "printed")

    replace(builtins, "print", before=printing)


def _see_warned(caught, warnings):
    """What user code warns of while it handles it."""
    if hasattr(sys, "monitoring"):
        return

    seen = _Places()

    def warned(frame, args, kwargs):
        error = sys.exc_info()[1]
        if error is not None and seen.is_new(error):
            caught.tell(error, "logged")

    wrap_method(warnings, "_showwarnmsg", before=warned)


def _see_pools(caught, pool):
    """What a task of multiprocessing.Pool or ThreadPool raised: it is kept in a result, which nobody may ever get."""
    awaited = WeakSet()

    def kept(frame, args, kwargs):
        result, (success, error) = args[0], args[2]
        if success or not isinstance(error, BaseException):
            return
        caught.tell(error, "caught")
        if result not in awaited and getattr(result, "_error_callback", None) is None:
            caught.keep(result, error)

    def asked(frame, args, kwargs):
        caught.unasked.pop(id(args[0]), None)
        awaited.add(args[0])

    for owner, names in (
        (pool.ApplyResult, ("get", "successful")), (pool.MapResult, ()),
        (pool.IMapIterator, ("next", "__next__")), (pool.IMapUnorderedIterator, ()),
    ):  # fmt: skip
        wrap_method(owner, "_set", before=kept)
        for name in names:
            wrap_method(owner, name, before=asked)


def _see_contexts(caught, contextlib):
    """What the exit of a `with` keeps to itself: suppress, a generator that goes on after its yield, a stack of them.

    From Python 3.12 on it is seen as what any other code handles.
    """
    if hasattr(sys, "monitoring"):
        return

    seen = _Places()

    def left(frame, result, args, kwargs):
        error = args[2] if result and len(args) > 2 else None
        if error is not None and seen.is_new(error):  # at the `with`, or in the generator
            caught.tell(error, "caught")

    for owner in (contextlib.suppress, contextlib._GeneratorContextManager, contextlib.ExitStack):
        original = owner.__dict__.get("__exit__")
        if original is not None:
            owner.__exit__ = stand_in(original, left)


# Modules in which caught exceptions are seen, the name of that way, and what hooks into them.
SEEN_IN = {
    "traceback": ("traceback", _see_formatted),
    "logging": ("logging", _see_logged),
    "concurrent.futures._base": ("futures", _see_futures),
    "builtins": ("print", _see_printed),
    "warnings": ("warnings", _see_warned),
    "multiprocessing.pool": ("pools", _see_pools),
    "contextlib": ("contexts", _see_contexts),
}
