"""Who looked at how a failed child ended: reads of returncode and exitcode, what wait() gave, what join() raised.

Only failures are told: a child that ended with 0 may be looked at or not. An event `child-read` has `pid=123 how=...`:
returncode and exitcode are read as attributes, wait, poll, call, close, system and waitpid gave the code to their
caller, raised means that the caller got an exception. Whether the caller used what it got stands in its source.
"""

from __future__ import annotations

import sys
from _thread import get_ident

from ..frames import is_stdlib
from ..patching import disguised, wrap_method

REMEMBERED = 256
# Functions of subprocess and os that hand the code itself to whoever called them.
GIVING = ("wait", "poll", "call", "getstatusoutput", "close")
# They look at codes to raise an exception for a bad one.
RAISING = ("/torch/multiprocessing/spawn.py", "/torch/distributed/elastic/", "/torch/distributed/launcher/")


class Reads:
    """The `child-read` events of this process."""

    def __init__(self, agent):
        self._agent = agent
        self._known = set()
        self._failed = {}  # thread -> pid of the child whose bad code subprocess saw last in it
        self._completed = {}  # id of a CompletedProcess -> pid: it has none
        agent.at_fork.append(self._known.clear)

    def told(self, frame, pid, how):
        """Records that the code at `frame` got or read the code of a failed child."""
        if frame is None:
            return
        known = (pid, how, frame.f_code, frame.f_lineno)
        if known in self._known:
            return
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known.add(known)
        self._agent.event("child-read", "pid=%d how=%s" % (pid, how), frame=frame)

    def read(self, frame, pid, how):
        """Records that an attribute was read, if not by the library that keeps it."""
        name = frame.f_code.co_filename
        if any(part in name for part in RAISING):
            self.told(frame, pid, "raised")
        elif not is_stdlib(name):
            self.told(frame, pid, how)

    def given(self, frame, pid):
        """Records whom a wait gave a bad code to: the caller of subprocess, by the function that it called."""
        self._failed[get_ident()] = pid
        function = "wait"
        while frame is not None and is_stdlib(frame.f_code.co_filename):
            frame, function = frame.f_back, frame.f_code.co_name
        if frame is not None and function in GIVING:
            self.read(frame, pid, function)

    def completed(self, process):
        """Remembers whose code a CompletedProcess holds."""
        if len(self._completed) >= REMEMBERED:
            self._completed.clear()
        self._completed[id(process)] = self._failed.get(get_ident(), 0)

    def looked_at(self, frame, process):
        """Records that the code of a CompletedProcess was read: by its user, or to raise an exception."""
        pid = self._completed.get(id(process), 0)
        if frame.f_code.co_name == "check_returncode":
            self.told(frame.f_back, pid, "raised")
        else:
            self.read(frame, pid, "returncode")

    def raised(self, frame):
        """Records who gets a CalledProcessError."""
        pid = self._failed.get(get_ident(), 0)
        while frame is not None and is_stdlib(frame.f_code.co_filename):
            frame = frame.f_back
        self.told(frame, pid, "raised")


class Code:
    """Stands in for the attribute `name` of the instances of a class, which keep their value where they kept it."""

    def __init__(self, name, seen, kept=None):
        self._name, self._seen, self._kept = name, seen, kept

    def __get__(self, instance, owner=None):
        """Returns the value; on the class there is none, as before."""
        if instance is None:
            raise AttributeError("type object %r has no attribute %r" % (getattr(owner, "__name__", ""), self._name))
        try:
            value = instance.__dict__[self._name]
        except KeyError:
            raise AttributeError("%r object has no attribute %r" % (type(instance).__name__, self._name)) from None
        if value:
            try:
                self._seen(sys._getframe(1), instance)
            except Exception:
                pass  # an event less; the job goes on
        return value

    def __set__(self, instance, value):
        instance.__dict__[self._name] = value
        if value and self._kept is not None:
            try:
                self._kept(instance)
            except Exception:
                pass  # an event less; the job goes on

    def __delete__(self, instance):
        try:
            del instance.__dict__[self._name]
        except KeyError:
            raise AttributeError(self._name) from None


def watch_subprocess(agent):
    """Hooks into subprocess: Popen, CompletedProcess, CalledProcessError."""
    reads, subprocess = of(agent), sys.modules["subprocess"]
    popen, completed = subprocess.Popen, subprocess.CompletedProcess

    def waited(frame, result, args, kwargs):
        if result:
            reads.given(frame, args[0].pid)

    wrap_method(popen, "wait", after=waited)
    wrap_method(popen, "poll", after=waited)
    popen.returncode = Code("returncode", lambda frame, process: reads.read(frame, process.pid, "returncode"))

    completed.returncode = Code("returncode", reads.looked_at, reads.completed)

    def failing(frame, result, args, kwargs):
        if frame.f_code.co_filename.endswith("/subprocess.py"):  # others make one of their own
            reads.raised(frame)

    wrap_method(subprocess.CalledProcessError, "__init__", after=failing)


def watch_asyncio(agent):
    """Hooks into asyncio's subprocesses, whose transports keep the code."""
    reads, base = of(agent), sys.modules["asyncio.base_subprocess"].BaseSubprocessTransport

    def got(frame, result, args, kwargs):
        if result:
            while frame is not None and "/asyncio/" in frame.f_code.co_filename:
                frame = frame.f_back
            reads.told(frame, args[0].get_pid() or 0, "returncode")

    wrap_method(base, "get_returncode", after=got)


def watch_asyncio_waits(agent):
    """Hooks into what `await process.wait()` gives; the code is not known yet when it is asked for."""
    reads = of(agent)

    def waiting(frame, args, kwargs):
        reads.told(frame, args[0].pid, "wait")

    wrap_method(sys.modules["asyncio.subprocess"].Process, "wait", before=waiting)


def watch_multiprocessing(agent):
    """Hooks into Process.exitcode."""
    reads, process = of(agent), sys.modules["multiprocessing.process"].BaseProcess
    original = process.__dict__.get("exitcode")
    if not isinstance(original, property):
        return

    def exitcode(self):
        value = original.fget(self)
        if value:
            try:
                reads.read(sys._getframe(1), self.pid, "exitcode")
            except Exception:
                pass  # an event less; the job goes on
        return value

    process.exitcode = property(disguised(exitcode, original.fget), original.fset, original.fdel, original.__doc__)


def reaped(agent, frame, pid, how):
    """Records that somebody outside the libraries got a bad code from the os module itself."""
    of(agent).read(frame, pid, how)


def of(agent):
    """Returns the Reads of this process."""
    if agent.reads is None:
        agent.reads = Reads(agent)
    return agent.reads
