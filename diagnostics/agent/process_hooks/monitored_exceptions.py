"""Exceptions that user code caught and kept to itself, through sys.monitoring of Python 3.12 and newer."""

from __future__ import annotations

import sys

from ..frames import is_library

NAME = "ups-doctor"
TOOLS = (4, 3)  # ids that PEP 669 gives to nobody
EACH_PLACE = 4
MAX_CALLS = 200_000  # a job that lives off exceptions is left alone from then on


def watch(agent, exceptions):
    """Switches the events on; does nothing where both tool ids are taken."""
    monitoring = sys.monitoring
    tool = next((number for number in TOOLS if monitoring.get_tool(number) is None), None)
    if tool is None:
        return
    monitoring.use_tool_id(tool, NAME)
    events = monitoring.events
    handled = Handled(agent, exceptions, lambda: monitoring.set_events(tool, 0))
    monitoring.register_callback(tool, events.EXCEPTION_HANDLED, handled.handled)
    monitoring.register_callback(tool, events.RERAISE, handled.reraised)
    monitoring.set_events(tool, events.EXCEPTION_HANDLED | events.RERAISE)
    exceptions.ways.append("monitoring")


class Handled:
    """Tells of exceptions handled in user code, few for each place; `finally` and `with` only pass them on."""

    def __init__(self, agent, exceptions, stop):
        self._agent, self._exceptions, self._stop = agent, exceptions, stop
        self._places, self._calls = {}, 0
        self._last = self._slot = None

    def handled(self, code, offset, error):
        """Called by the interpreter; must be quick and never raise."""
        try:
            self._calls += 1
            if self._calls == MAX_CALLS:
                self._stop()
                self._exceptions.ways.remove("monitoring")
                self._exceptions.say_ways()
            filename = code.co_filename
            place = (filename, code.co_firstlineno, offset)
            times = self._places.get(place, 0)
            if times >= EACH_PLACE or is_library(filename) or "-packages" in filename or len(self._places) > MAX_CALLS:
                return
            self._places[place] = times + 1
            slot = self._exceptions.caught.tell(error, "caught")
            if slot is not None:
                self._last, self._slot = (id(error), self._agent.file), slot
        except Exception:
            pass  # an event less; the job goes on

    def reraised(self, code, offset, error):
        """Takes back what was told of an exception that nobody caught there after all."""
        if self._last is None or self._last[0] != id(error):
            return
        try:
            if self._last[1] is self._agent.file:  # no fork in between
                self._exceptions.caught.take_back(error, self._slot)
            self._last = None
        except Exception:
            pass  # an event too many; the job goes on
