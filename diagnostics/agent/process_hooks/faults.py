"""faulthandler into a file beside the agent's: the Python stack of a process that dies by a signal."""

from __future__ import annotations

import faulthandler
import functools
import os
import sys

from ..imports import when_imported

HIGH_DESCRIPTORS = (1000, 200, 50, 25)  # the highest that the limit of the process allows
WORKER_SIGNALS = "torch.utils.data._utils.signal_handling"


def enable(agent):
    """Sends faulthandler's stacks to a file. A job that switched it on before (or will) keeps its own."""
    if faulthandler.is_enabled():  # PYTHONFAULTHANDLER or -X faulthandler: the stack goes to stderr
        agent.event("faulthandler", "was on already")
        return
    try:
        stacks = Stacks(agent)
    except OSError as error:
        agent.event("faulthandler", "no file: %s" % error)
        return
    stacks.enable()
    agent.at_fork.append(stacks.follow_fork)
    when_imported(WORKER_SIGNALS, lambda: _stay_in_front_of(sys.modules[WORKER_SIGNALS], stacks))


class Stacks:
    """The open stacks file of this process."""

    def __init__(self, agent):
        self._agent = agent
        self._fd = _out_of_reach(_open(agent))
        self._file = os.fstat(self._fd)
        self._enable = faulthandler.enable
        self.ours = True  # the job has not switched faulthandler on itself

    def enable(self):
        """Points faulthandler here, and notices when the job points it elsewhere."""
        self._enable(self._fd, all_threads=True)
        seconds = os.environ.get("UPS_DOCTOR_STACKS_AFTER_S")
        if seconds:  # only preflight sets it: where a stuck rank stands, without ptrace and whoever holds the GIL
            faulthandler.dump_traceback_later(float(seconds), file=self._fd)

        @functools.wraps(self._enable)
        def enable(*args, **kwargs):
            self.ours = False
            return self._enable(*args, **kwargs)

        faulthandler.enable = enable

    def enable_again(self):
        """Installs the handlers once more: those found there now are the ones they hand on to."""
        self._enable(self._fd, all_threads=True)

    def follow_fork(self):
        """In a forked child: points our descriptor at the child's own file, unless the job reused its number."""
        try:
            now = os.fstat(self._fd)
            if self._agent.file is None or (now.st_dev, now.st_ino) != (self._file.st_dev, self._file.st_ino):
                return
            new = _open(self._agent)
            os.dup2(new, self._fd, inheritable=False)
            os.close(new)
            self._file = os.fstat(self._fd)
        except OSError:
            pass  # no file of its own: a crash of the child goes to its parent's file


def _stay_in_front_of(signals, stacks):
    """DataLoader's workers set handlers of their own; ours have to be set after them."""
    original = getattr(signals, "_set_worker_signal_handlers", None)
    if original is None:
        return

    @functools.wraps(original)
    def set_handlers(*args):
        ours = stacks.ours and faulthandler.is_enabled()
        if ours:
            faulthandler.disable()
        original(*args)
        if ours:
            stacks.enable_again()

    signals._set_worker_signal_handlers = set_handlers


def _out_of_reach(fd):
    """Returns `fd` under a high number: a job that closes every descriptor gets the low ones for files of its own.

    Otherwise a later crash would write its stacks into one of them.
    """
    import fcntl

    for number in HIGH_DESCRIPTORS:
        try:
            high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, number)
        except OSError:  # beyond the limit of this process
            continue
        os.close(fd)
        return high
    return fd


def _open(agent):
    name = os.path.basename(agent.file.path)
    path = os.path.join(agent.folder, "stacks-" + name[len("agent-") : -len(".bin")] + ".txt")
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
