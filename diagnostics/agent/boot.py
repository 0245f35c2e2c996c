"""Starts the agent in this process, and again in each process forked from it."""

from __future__ import annotations

import os
import sys
from itertools import count

from . import exits, faults, imports
from .areas import AgentFile
from .frames import CallPaths

TORCH = "torch"


class Agent:
    """What this process records into. `file` is None where no file could be reserved: nothing is recorded then."""

    def __init__(self, folder):
        self.folder = folder
        self.deep = os.environ.get("UPS_DOCTOR_DEEP") == "1"
        self.at_fork = []  # called in a forked child, after `file` is its own
        self.ordered = count(1).__next__  # one order over all areas, and over a fork
        self._open(0)

    def _open(self, forked_from):
        self.file = None
        try:
            self.file = AgentFile(self.folder, self.ordered, forked_from)
            self._paths = CallPaths(self.file.strings)
        except OSError:
            self.file = None  # the job goes on; the folder holds the reason or cannot be written at all

    def event(self, kind, text="", value=0, frame=None, traceback=None, ending=False):
        """Adds one lifecycle event; never raises."""
        if self.file is None:
            return
        try:
            path = self._paths.of_traceback(traceback) if traceback is not None else self._paths.of(frame)
            text = text[:500].encode("utf-8", "replace")
            self.file.lifecycle.add(kind.encode(), text, path, value, ending)
        except Exception:
            self.file = None  # a file that cannot be written is given up; the job goes on

    def mark(self, phase):
        """Records that the job enters `phase`. Programs reach it as sys.modules["_ups_doctor_agent"].mark."""
        self.event("phase", str(phase), frame=sys._getframe(1))

    def detach(self):
        """Runs in a forked child: the parent's file is left alone, and a new one is made."""
        try:
            parent, pid = self.file, 0
            if parent is not None:
                parent.keep_forever()
                pid = parent.pid
            self._open(pid or os.getppid())
            for callback in self.at_fork:
                callback()
        except Exception:
            self.file = None


def start(package):
    """Starts recording into the folder $UPS_DOCTOR_DIR. `package` gets `mark`, the one name meant for programs."""
    agent = Agent(os.path.abspath(os.environ["UPS_DOCTOR_DIR"]))
    package.agent, package.mark = agent, agent.mark
    if agent.file is None:
        return
    faults.enable(agent)
    exits.watch(agent)
    os.register_at_fork(after_in_child=agent.detach)
    imports.when_imported(TORCH, lambda: _torch_is_here(agent))


def _torch_is_here(agent):
    from . import lifecycle, modules

    lifecycle.watch(agent)
    modules.watch(agent)
