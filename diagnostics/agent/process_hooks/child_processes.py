"""Children of this process: forks, and how children ended as this process was told."""

from __future__ import annotations

import os
import sys

from ..patching import replace

MAX_WORDS = 300
MAX_FRAMES = 200
# Who started a child, by a file on the stack: runners of tests, which expect failures, and pools, whose futures tell.
STARTERS = (
    ("/unittest/case.py", " test=unittest"),
    ("/_pytest/runner.py", " test=pytest"),
    ("/doctest.py", " test=doctest"),
    ("/concurrent/futures/process.py", " pool=1"),
    ("/multiprocessing/pool.py", " pool=1"),
    ("/joblib/externals/loky/", " pool=1"),
)
STOPPED = 0x7F
CLD_EXITED, CLD_KILLED, CLD_DUMPED = 1, 2, 3


def watch(agent):
    """Records forks, os.system and every wait of the os module, before subprocess binds os.waitpid."""
    for name in ("waitpid", "wait", "wait3", "wait4"):
        replace(os, name, after=lambda frame, result, args, kwargs: _reaped(agent, frame, *result[:2]))
    replace(os, "waitid", after=lambda frame, result, args, kwargs: _waited(agent, frame, result, args, kwargs))
    # The C library waits for the shell: its number stays unknown, and its end is what os.system returns.
    replace(
        os,
        "system",
        before=lambda frame, args, kwargs: _starting_shell(agent, frame, args, kwargs),
        after=lambda frame, result, args, kwargs: _ended(agent, frame, 0, result, "system"),
    )
    os.register_at_fork(after_in_parent=lambda: _forked(agent, sys._getframe(1)))


def _reaped(agent, frame, pid, status):
    if pid:  # 0: none has ended yet
        _ended(agent, frame, pid, status, "waitpid")


def _ended(agent, frame, pid, status, call):
    if status & 0xFF == STOPPED:
        return
    signal = status & 0x7F
    _end(agent, pid, "signal=%d" % signal if signal else "code=%d" % (status >> 8))
    if status:
        _given(agent, frame, pid, call)


def _given(agent, frame, pid, call):
    from . import child_exit_reads

    child_exit_reads.reaped(agent, frame, pid, call)


def _waited(agent, frame, result, args, kwargs):
    options = args[2] if len(args) > 2 else kwargs.get("options", 0)
    if result is None or options & os.WNOWAIT:  # the end will be told to the wait that takes it
        return
    if result.si_code == CLD_EXITED:
        _end(agent, result.si_pid, "code=%d" % result.si_status)
    elif result.si_code in (CLD_KILLED, CLD_DUMPED):
        _end(agent, result.si_pid, "signal=%d" % result.si_status)
    if result.si_status:
        _given(agent, frame, result.si_pid, "waitpid")


def _end(agent, pid, how):
    agent.event("child-end", "pid=%d %s" % (pid, how), quota="child-end-clean" if how == "code=0" else None)


def _starting_shell(agent, frame, args, kwargs):
    from ..shared.redaction import hide

    words = os.fsdecode(args[0] if args else kwargs["command"])[: 2 * MAX_WORDS]
    words = hide(words)[:MAX_WORDS]
    agent.event("child", "pid=0 how=system reads=1%s | %s" % (started_by(frame), words), frame=frame)


def started_by(frame):
    """Returns " test=pytest", " pool=1" or "": what of STARTERS is on the stack."""
    for _ in range(MAX_FRAMES):
        if frame is None:
            return ""
        filename = frame.f_code.co_filename
        for part, words in STARTERS:
            if part in filename:
                return words
        frame = frame.f_back
    return ""


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
        agent.event("child", "pid=%d how=fork reads=1%s | " % (int(pids[-1]), started_by(frame)), frame=frame)
