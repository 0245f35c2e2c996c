"""Waits for keys of a store: torch's TCPStore, FileStore, PrefixStore and the like, called from Python.

Each is written among the collectives as "store.wait", "store.get"..., its key in the place of the shape. A program
that asks again and again takes one slot for it, so that no collective is pushed out of the ring.
"""

from __future__ import annotations

import functools
import sys
from _thread import get_ident, get_native_id

from ..shared import layout
from ..shared.redaction import hide_words
from ..shared.timing_layout import COLLECTIVE
from .call_area import Group

NAMES = ("wait", "get", "multi_get", "queue_pop", "barrier")  # what can block until another rank acts
ELASTIC = "torch/distributed/elastic/"  # the launcher's own: it asks for ever
MAX_KEY, MAX_KEYS, MAX_THREADS = 200, 4, 64


class StoreWaits:
    """Records them through the recorder of collectives."""

    def __init__(self, recorder):
        self._recorder = recorder
        self.forget()

    def forget(self):
        """In a forked child: the area is another one."""
        self._done = {}  # ident of a thread -> the slot of its latest call

    def enter(self, operation, args, kwargs, frame, thread):
        """Writes that a call began; returns what leave() needs, None where nothing was written. Never raises."""
        try:
            area = self._recorder.area()
            if area is None or ELASTIC in frame.f_code.co_filename:
                return None
            intern = area.strings.intern
            words = intern(operation.encode()), intern(_key(args, kwargs)), 0
            over = self._done.pop(thread, None)
            group = Group(0, (), numbered=False)
            return area.enter(words, group, -1, layout.NO_ROOT, frame, get_native_id(), 0, over)
        except Exception:
            return None  # a wait nobody saw; the job goes on

    def leave(self, slot, thread, failed):
        """Writes that it is over. Never raises."""
        try:
            self._recorder.area().leave(slot, failed)
            if len(self._done) >= MAX_THREADS:
                self._done.clear()
            self._done[thread] = slot
        except Exception:
            pass  # it reads as not left; another call of this thread shows that it was


def watch(agent, module, recorder, is_compiling):
    """Wraps the methods of Store, where this torch lets them be set."""
    waits = StoreWaits(recorder)
    agent.at_fork.append(waits.forget)
    base = getattr(module, "Store", None)
    for name in NAMES:
        original = getattr(base, name, None)
        if original is None:
            continue
        try:
            setattr(base, name, _wrapped(original, "store." + name, waits, recorder, is_compiling, agent.timings))
        except (AttributeError, TypeError):
            return  # this torch's class cannot be changed: nothing is recorded


def _wrapped(original, operation, waits, recorder, is_compiling, timings):
    @functools.wraps(original)
    def call(self, *args, **kwargs):
        thread = get_ident()
        if thread in recorder.inside or is_compiling():
            return original(self, *args, **kwargs)
        entered, failed, inside, before = None, True, recorder.inside, -1
        try:
            inside.add(thread)
            before = timings.enter(COLLECTIVE)
            entered = waits.enter(operation, args, kwargs, sys._getframe(1), thread)
            result = original(self, *args, **kwargs)
            failed = False
            return result
        finally:
            timings.leave(before)
            inside.discard(thread)
            if entered is not None:
                waits.leave(entered, thread, failed)

    return call


def _key(args, kwargs):
    keys = args[0] if args else kwargs.get("keys", kwargs.get("key", ""))
    keys = list(keys)[:MAX_KEYS] if isinstance(keys, (list, tuple)) else [str(keys)]
    return " ".join(hide_words(keys))[:MAX_KEY].encode("utf-8", "replace")
