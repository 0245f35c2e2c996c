"""Who looked at how a failed child ended: reads of returncode and exitcode, what wait() gave, what join() raised.

Only failures are told: a child that ended with 0 may be looked at or not. An event `child-read` has `pid=123 how=...`:
returncode and exitcode are read as attributes, wait, poll, call, close, system, spawnv and waitpid gave the code to
their caller, raised means that the caller got an exception, unseen that the standard library got the code: a pool's
thread, an event loop, an exit handler. What that did with it cannot be seen. Whether any other caller used what it got
stands in its source. `kept=2` says that behind the first two frames the standard library may have taken the exception.
"""

from __future__ import annotations

import sys
from _thread import get_ident

from ..frames import is_library, is_stdlib
from ..patching import disguised, wrap_method

REMEMBERED = 256
# Functions of subprocess and os that hand the code itself to whoever called them.
GIVING = ("wait", "poll", "call", "getstatusoutput", "close")
# They wait for the children that they started themselves, and keep the code for who asks.
KEEPING = ("/subprocess.py", "/multiprocessing/", "/asyncio/")
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
        known = (pid, how, frame and frame.f_code, frame and frame.f_lineno)
        if known in self._known:
            return
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known.add(known)
        kept = _kept(frame) if how == "raised" else None
        more = "" if kept is None else " kept=%d" % kept
        self._agent.event("child-read", "pid=%d how=%s%s" % (pid, how, more), frame=frame)

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
        function, frame = _caller(frame, "wait", "/subprocess.py")
        if function in GIVING:
            self.handed(frame, pid, function)

    def handed(self, frame, pid, function):
        """Records who got a bad code, through which function of the standard library, if any."""
        name, user = _caller(frame, function)
        if user is not None and (user is frame or name in GIVING or name.startswith("spawn")):
            self.read(user, pid, name)
        else:
            self.told(user, pid, "unseen")

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
        elif frame.f_code.co_name == "__repr__":
            self.handed(frame.f_back, pid, "returncode")
        else:
            self.read(frame, pid, "returncode")

    def raised(self, frame):
        """Records who gets a CalledProcessError."""
        self.told(_caller(frame, "")[1], self._failed.get(get_ident(), 0), "raised")


def _caller(frame, function, part=""):
    """Returns the function that the first frame outside the standard library called, and that frame or None.

    With `part`, of the first frame outside the files whose names hold it.
    """
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_stdlib(name) or part not in name:
            if not name.startswith("<frozen importlib._bootstrap, ups"):  # a wrapper of ours
                break
        else:
            function = frame.f_code.co_name
        frame = frame.f_back
    return function, frame


def _kept(frame):
    """Returns how many frames of the job stand before one of the standard library; None where there is no such frame.

    A pool's thread, an event loop, a context manager: what is raised through it may end there.
    """
    count = 0
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_library(name):
            count += 1
        elif count and is_stdlib(name) and not name.startswith("<frozen") and not name.endswith("/runpy.py"):
            return count
        frame = frame.f_back
    return None


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
            if frame is not None:
                reads.read(frame, args[0].get_pid() or 0, "returncode")

    wrap_method(base, "get_returncode", after=got)


def watch_asyncio_waits(agent):
    """Hooks into what `await process.wait()` gives: to the coroutine that awaits it, or to a task."""
    reads, process = of(agent), sys.modules["asyncio.subprocess"].Process
    original = process.wait

    async def wait(self):
        code = await original(self)
        if code:
            try:
                reads.handed(sys._getframe(1), self.pid, "wait")
            except Exception:
                pass  # an event less; the job goes on
        return code

    process.wait = disguised(wait, original)


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
    """Records who got a bad code from the os module itself."""
    if not any(part in frame.f_code.co_filename for part in KEEPING if is_stdlib(frame.f_code.co_filename)):
        of(agent).handed(frame, pid, how)


def of(agent):
    """Returns the Reads of this process."""
    if agent.reads is None:
        agent.reads = Reads(agent)
    return agent.reads
