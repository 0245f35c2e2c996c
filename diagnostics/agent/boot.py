"""Starts the agent in this process, and again in each process forked from it."""

from __future__ import annotations

import os
import sys
from itertools import count

from . import imports, streams
from .areas import AgentFile
from .frames import CallPaths
from .process_hooks import child_processes, faults, listeners, process_exit, signals_sent, uncaught_exceptions
from .process_hooks.forks import Forks

TORCH = "torch"
MAX_TEXT = 1500  # characters
# How many events of a kind are written, so that a noisy job leaves room for the others; -clean and -mild have
# quotas of their own, so that a thousand good ends leave room for a bad one.
LIMITS = {
    "alive-at-end": 16,
    "atexit": 12,
    "checkpoint": 4,
    "child": 48,
    "child-end": 48,
    "child-end-clean": 24,
    "child-read": 48,
    "kill": 24,
    "kill-mild": 8,
    "listen": 16,
    "load-failed": 12,
    "locals": 8,
    "save-failed": 12,
    "thread": 16,
    "thread-exception": 16,
    "threads-set": 4,
    "unraisable": 8,
}


class Agent:
    """What this process records into. `file` is None where no file could be reserved: nothing is recorded then."""

    def __init__(self, folder):
        self.folder = folder
        self.deep = os.environ.get("UPS_DOCTOR_DEEP") == "1"
        self.locals = None  # where the user asked for them
        self.on_file = None  # told of each file that was read or written
        self.collectives = None  # the recorder of calls of torch.distributed, once that is imported
        self.reads = None  # made where a child's end is looked at
        self.at_fork = []  # called in a forked child, after `file` is its own
        self.forks = Forks()
        self.ordered = count(1).__next__  # one order over all areas, and over a fork
        self._open(0)

    def _open(self, forked_from):
        self.file = None
        self._counts = {}  # kind -> how many there were
        try:
            self.file = AgentFile(self.folder, self.ordered, forked_from)
            self._paths = CallPaths(self.file.strings)
        except OSError:
            self.file = None  # the job goes on; the folder holds the reason or cannot be written at all

    def event(self, kind, text="", value=0, frame=None, traceback=None, path=0, ending=False, over=None, quota=None):
        """Adds one lifecycle event, over the one in slot `over`; returns its slot or None; never raises."""
        quota = quota or kind
        if self.file is None or self.full(quota):
            return None
        self._counts[quota] = self._counts.get(quota, 0) + 1
        try:
            if ending:
                self.file.strings.open_reserve()
            if not path:
                path = self._paths.of_traceback(traceback, frame) if traceback is not None else self._paths.of(frame)
            text = text[:MAX_TEXT].encode("utf-8", "replace")
            return self.file.lifecycle.add(kind.encode(), text, path, value, ending, over)
        except Exception:
            return None  # an event less; the job goes on

    def full(self, quota):
        """Whether all events that may be written of this quota (a kind, as a rule) were; if so, one more was not."""
        if quota not in LIMITS or self._counts.get(quota, 0) < LIMITS[quota]:
            return False
        self._counts[quota] += 1
        return True

    def path_of(self, frame):
        """Returns the id of the call path that ends in `frame`, for an event that comes later; 0 for none."""
        return self._paths.of(frame) if self.file is not None else 0

    def path_of_traceback(self, traceback):
        """Returns the id of the call path along which an exception travelled; 0 for none."""
        return self._paths.of_traceback(traceback) if self.file is not None else 0

    def ends_well(self):
        """Runs at the end of a process that says success."""
        exceptions = getattr(self, "exceptions", None)
        if exceptions is not None:
            exceptions.tell_unasked()
        self.forks.tidy(self, self._counts)

    def dropped(self):
        """Returns "child=900 thread=3": how many events of which kind were not written."""
        over = ((kind, self._counts.get(kind, 0) - limit) for kind, limit in LIMITS.items())
        return " ".join("%s=%d" % pair for pair in over if pair[1] > 0)

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
            if self.forks.too_many():
                self.file = None
                return
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
    streams.divide(agent.folder, agent.file.pid, agent.file.start_ticks)
    faults.enable(agent)
    if os.environ.get("UPS_DOCTOR_LOCALS") == "1":
        from .process_hooks import local_values

        agent.locals = local_values.Locals(agent)
    uncaught_exceptions.watch(agent)
    process_exit.watch(agent)
    signals_sent.watch(agent)
    child_processes.watch(agent)
    os.register_at_fork(before=agent.forks.before, after_in_child=agent.detach)
    imports.when_imported("threading", lambda: _threading_is_here(agent))
    imports.when_imported("socket", lambda: listeners.watch(agent))
    imports.when_imported("subprocess", lambda: _subprocess_is_here(agent))
    imports.when_imported("multiprocessing.process", lambda: _multiprocessing_is_here(agent))
    imports.when_imported(TORCH, lambda: _torch_is_here(agent))


# A plain program imports none of these, and pays for none of them.
def _threading_is_here(agent):
    from .process_hooks import threads

    threads.watch(agent)


def _subprocess_is_here(agent):
    from .process_hooks import child_environments, child_exit_reads, child_starts

    child_environments.watch_popen(agent)
    child_starts.watch_popen(agent)
    child_exit_reads.watch_subprocess(agent)
    imports.when_imported("asyncio.base_subprocess", lambda: child_exit_reads.watch_asyncio(agent))
    imports.when_imported("asyncio.subprocess", lambda: child_exit_reads.watch_asyncio_waits(agent))


def _multiprocessing_is_here(agent):
    from .process_hooks import child_exit_reads, child_starts

    child_starts.watch_process(agent)
    child_exit_reads.watch_multiprocessing(agent)


def _torch_is_here(agent):
    from .data_hooks import loader_hooks
    from .shared import redaction
    from .torch_hooks import dynamo, file_io, lifecycle, modules, optimizer_restore, parameter_prints, timings
    from .training_hooks import marks

    redaction.load()  # while files can still be opened
    timings.watch(agent)  # the other hooks switch its clock
    file_io.watch(agent)
    optimizer_restore.watch(agent)
    agent.exceptions.say_ways()
    dynamo.leave_uncompiled(sys.modules[__name__])
    lifecycle.watch(agent)
    activity = modules.watch(agent)
    activity.outermost = loader_hooks.watch(agent)
    marks.watch(agent, parameter_prints.watch(agent))
    if os.environ.get("UPS_DOCTOR_CAPTURE"):
        from . import capturing

        capturing.watch(agent)
    if os.environ.get("UPS_DOCTOR_PARITY"):
        from . import parity

        parity.watch(agent)
        activity.outermost = parity.told_first(agent.parity, activity.outermost)
