"""Children of this process: who started them, and how they ended as this process was told."""

from __future__ import annotations

import os
import sys

from .hiding import hide
from .imports import when_imported
from .wrapping import replace, wrap_method

MAX_WORDS = 300
STOPPED = 0x7F
CLD_EXITED, CLD_KILLED, CLD_DUMPED = 1, 2, 3


def watch(agent):
    """Records starts (Popen, Process, os.fork, os.system) and ends (every wait of the os module)."""
    replace(os, "waitpid", after=lambda frame, result, args, kwargs: _ended(agent, *result))
    for name in ("wait", "wait3", "wait4"):
        replace(os, name, after=lambda frame, result, args, kwargs: _ended(agent, *result[:2]))
    replace(os, "waitid", after=lambda frame, result, args, kwargs: _waited(agent, result, args, kwargs))
    os.register_at_fork(after_in_parent=lambda: _forked(agent, sys._getframe(1)))
    when_imported("subprocess", lambda: _watch_popen(agent))
    when_imported("multiprocessing.process", lambda: _watch_process(agent))


def _ended(agent, pid, status):
    if not pid or status & 0xFF == STOPPED:
        return
    signal = status & 0x7F
    _end(agent, pid, "signal=%d" % signal if signal else "code=%d" % (status >> 8))


def _waited(agent, result, args, kwargs):
    options = args[2] if len(args) > 2 else kwargs.get("options", 0)
    if result is None or options & os.WNOWAIT:  # the end will be told to the wait that takes it
        return
    if result.si_code == CLD_EXITED:
        _end(agent, result.si_pid, "code=%d" % result.si_status)
    elif result.si_code in (CLD_KILLED, CLD_DUMPED):
        _end(agent, result.si_pid, "signal=%d" % result.si_status)


def _end(agent, pid, how):
    agent.event("child-end", "pid=%d %s" % (pid, how))


def _forked(agent, frame):
    """Runs in the parent after a fork: wrapping os.fork would change the line its DeprecationWarning names."""
    if agent.full("child") or "/multiprocessing/" in frame.f_code.co_filename:
        return
    if frame.f_code.co_filename.endswith("/subprocess.py"):  # preexec_fn
        return
    try:
        with open("/proc/thread-self/children", "rb", buffering=0) as children:
            pids = children.read(1 << 16).split()
    except OSError:
        return  # this kernel does not tell; the child's own file names its parent
    if pids:
        agent.event("child", "pid=%d how=fork | " % int(pids[-1]), frame=frame)


def _watch_popen(agent):
    def started(frame, result, args, kwargs):
        if agent.full("child"):
            return
        words = args[1] if len(args) > 1 else kwargs.get("args", "")
        if isinstance(words, (list, tuple)):
            words = " ".join(os.fsdecode(word) for word in words[:20])
        else:
            words = os.fsdecode(words)
        words = hide(words[: 2 * MAX_WORDS])[:MAX_WORDS]
        agent.event("child", "pid=%d how=popen | %s" % (args[0].pid, words), frame=frame)

    wrap_method(sys.modules["subprocess"].Popen, "__init__", after=started)


def _watch_process(agent):
    targets = {}  # id(process) -> what it runs, which it forgets when it has started

    def starting(frame, args, kwargs):
        if not agent.full("child"):
            targets[id(args[0])] = dotted_target(args[0])

    def started(frame, result, args, kwargs):
        process = args[0]
        text = "pid=%d how=process | %s %s" % (process.pid, process.name, targets.pop(id(process), ""))
        agent.event("child", text[:MAX_WORDS], frame=frame)

    wrap_method(sys.modules["multiprocessing.process"].BaseProcess, "start", before=starting, after=started)


def dotted_target(worker):
    """Returns the dotted name of what a Process or Thread will run."""
    target = getattr(worker, "_target", None) or type(worker)
    return "%s.%s" % (getattr(target, "__module__", ""), getattr(target, "__qualname__", type(target).__name__))
