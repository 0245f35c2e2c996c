"""faulthandler into a file beside the agent's: the Python stack of a process that dies by a signal."""

from __future__ import annotations

import faulthandler
import os


def enable(agent):
    """Sends faulthandler's stacks to a file. A job that switched it on before (or will) keeps its own."""
    if faulthandler.is_enabled():  # PYTHONFAULTHANDLER or -X faulthandler: the stack goes to stderr
        agent.event("faulthandler", "was on already")
        return
    path = _path(agent)
    try:
        fd = _open(path)
    except OSError:
        agent.event("faulthandler", "no file")
        return
    faulthandler.enable(fd, all_threads=True)
    seconds = os.environ.get("UPS_DOCTOR_STACKS_AFTER_S")
    if seconds:  # only preflight sets it: where a stuck rank stands, without ptrace and whoever holds the GIL
        faulthandler.dump_traceback_later(float(seconds), file=fd)
    owner = [fd, os.fstat(fd)]
    agent.at_fork.append(lambda: _redirect(agent, owner))


def _redirect(agent, owner):
    """In a forked child: points our descriptor at the child's own file, unless the job reused its number."""
    fd, was = owner
    try:
        now = os.fstat(fd)
        if agent.file is None or (now.st_dev, now.st_ino) != (was.st_dev, was.st_ino):
            return
        new = _open(_path(agent))
        os.dup2(new, fd, inheritable=False)
        os.close(new)
        owner[1] = os.fstat(fd)
    except OSError:
        pass  # no file of its own: a crash of the child goes to its parent's file


def _path(agent):
    name = os.path.basename(agent.file.path)
    return os.path.join(agent.folder, "stacks-" + name[len("agent-") : -len(".bin")] + ".txt")


def _open(path):
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
