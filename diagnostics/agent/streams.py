"""Gives this process a pipe (or terminal) of its own to the doctor's relay, so that its output can be told apart.

Only where its stdout or stderr is what the doctor gave to the job: a file `stream-<device>-<inode>` in the agent's
folder says so. Everything goes through descriptors 1 and 2, so output of native code is told apart, too. The relay
passes it on to where it was meant to go. On any failure all stays as it was. `_socket` and not `socket`: the job
pays 0.2 ms and not 5.

With a stream of its own, what a process writes could come before what its parent wrote earlier, or after what it
writes later. So the relay is asked to empty the parent's stream before the new one is used, and the own one before
the process ends. Each takes 0.3 ms as a rule, and is waited for SETTLED_S at most; where our reader does not read,
the relay says at once that it would be in vain.
"""

from __future__ import annotations

import os
import sys
import time

ADDRESS = "UPS_DOCTOR_STREAMS"
SETTLED_S = 1.0
_own = []  # pid, address, {descriptor: name of the stream} of the process that has streams of its own


def divide(folder, pid, start_ticks):
    """Hands the reading ends of new streams for descriptors 1 and 2 to the relay; never raises, waits SETTLED_S."""
    address = os.environ.get(ADDRESS)
    if not address:
        return
    try:
        wanted = _ours(folder)
        if wanted:
            _divide(folder, address, "%d %d" % (pid, start_ticks), wanted)
    except Exception:
        pass  # the output goes where it went, and is not told apart


def _ours(folder):
    """Returns {name of the stream: its descriptors} of those that lead to the relay."""
    found = {}
    for fd in (1, 2):
        try:
            name = _name(fd)
        except OSError:  # closed
            continue
        if name in found or os.path.exists(os.path.join(folder, name)):
            found.setdefault(name, []).append(fd)
    return found


def _divide(folder, address, message, wanted):
    import _socket
    import struct

    opened, made, sent, files, names = [], [], [], [], {}
    try:
        for name, fds in wanted.items():
            reading, writing = _terminal_like(fds[0]) if os.isatty(fds[0]) else os.pipe()
            opened += [reading, writing]
            new = _name(writing)
            # One stream for both keeps their order; what tells about failures is looked for in stderr.
            message += " %s %s %d" % (name, new, fds[-1])
            sent.append(reading)
            made.append((writing, fds))
            files.append(os.path.join(folder, new))
            names.update((fd, new) for fd in fds)
        for path in files:  # before the relay knows of it, since the relay removes it
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
        try:
            connection.setblocking(False)
            connection.connect(b"\0" + address.encode())
            rights = struct.pack("%di" % len(sent), *sent)
            connection.sendmsg([message.encode()], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
            _wait(connection, len(sent))
        finally:
            connection.close()
        _own[:] = [os.getpid(), address, names]
    except BaseException:
        for path in files:
            if os.path.exists(path):
                os.unlink(path)
        made = []
        raise
    finally:
        for writing, fds in made:
            for fd in fds:
                os.dup2(writing, fd)
        for fd in opened:
            os.close(fd)


def settle(flush=True):
    """At the end of the process: waits until the relay has passed on what it wrote; never raises."""
    try:
        if not _own or _own[0] != os.getpid():  # a forked child writes to its parent's stream
            return
        for stream in (sys.stdout, sys.stderr) if flush else ():
            if stream is not None and not stream.closed:
                stream.flush()  # as Python does a moment later
        _, address, names = _own
        own = sorted({name for fd, name in names.items() if _name(fd) == name})
        if own:
            import _socket

            connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
            try:
                connection.setblocking(False)
                connection.connect(b"\0" + address.encode())
                connection.send(("end " + " ".join(own)).encode())
                _wait(connection, len(own))
            finally:
                connection.close()
    except Exception:
        pass  # its last words may come late; the process ends as it would


def _wait(connection, answers):
    """Waits for one byte for each stream: what it held has been passed on."""
    until = time.monotonic() + SETTLED_S
    while answers > 0:
        connection.settimeout(max(0.001, until - time.monotonic()))
        try:
            said = len(connection.recv(answers))
        except OSError:  # too late, or the relay is gone
            return
        if not said:
            return
        answers -= said


def _name(fd):
    facts = os.fstat(fd)
    return "stream-%x-%x" % (facts.st_dev, facts.st_ino)


def _terminal_like(fd):
    """Returns (master, slave) of a terminal set up as the one behind `fd`."""
    import fcntl
    import termios

    master, slave = os.openpty()
    termios.tcsetattr(slave, termios.TCSANOW, termios.tcgetattr(fd))
    fcntl.ioctl(slave, termios.TIOCSWINSZ, fcntl.ioctl(fd, termios.TIOCGWINSZ, b"\0" * 8))
    return master, slave
