"""How a process ended, as the kernel tells it, also where it is not our child; signals that reach no other one.

Makes this process the parent of every orphan below it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import struct
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36

# struct pidfd_info of linux/pidfd.h: mask, cgroup, pid, tgid, ppid, 8 ids, exit_code
_INFO_BYTES = 64
_EXIT_CODE_AT = 60
_INFO_EXIT = 1 << 3
_GET_INFO = 3 << 30 | _INFO_BYTES << 16 | 0xFF << 8 | 11  # _IOWR(PIDFS_IOCTL_MAGIC, 11, ...)


def open_pidfd(pid: int, start_ticks: int) -> int | None:
    """Returns a descriptor that becomes readable at the end of this very process; None where there can be none."""
    try:
        fd = os.pidfd_open(pid)
    except (OSError, AttributeError):  # it has ended, no descriptor is free; a kernel before 5.3, gVisor, seccomp
        return None
    if read_start(pid) == start_ticks:
        return fd
    os.close(fd)
    return None


def send_signal(pid: int, start_ticks: int, number: int) -> bool:
    """Sends a signal to this very process; False where it has ended, or became another user's.

    Where no descriptor tells it from a later process of the same number, it is looked at just before.
    """
    fd = open_pidfd(pid, start_ticks)
    try:
        if fd is not None and _sent(fd, number):
            return True
        if read_start(pid) != start_ticks:
            return False
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        if fd is not None:
            os.close(fd)
    return True


def _sent(fd: int, number: int) -> bool:
    try:
        signal.pidfd_send_signal(fd, number)
    except ProcessLookupError:
        raise
    except (OSError, AttributeError):  # not known here, or not allowed to be called: kill may be
        return False
    return True


def reaped_status(fd: int) -> int | None:
    """Returns the wait status of a process that its parent has reaped: kernel 6.15 and newer, else None."""
    info = bytearray(_INFO_BYTES)
    struct.pack_into("<Q", info, 0, _INFO_EXIT)
    try:
        fcntl.ioctl(fd, _GET_INFO, info)
    except OSError:
        return None
    if not struct.unpack_from("<Q", info)[0] & _INFO_EXIT:
        return None
    return int(struct.unpack_from("<i", info, _EXIT_CODE_AT)[0])


def zombie_status(pid: int, start_ticks: int) -> int | None:
    """Returns the wait status of a process that has ended and was not reaped yet, None where it may not be read."""
    words = stat_words(pid)
    # The last field is 0 both for "exit code 0" and "you may not know", the former only to its owner or root.
    if words is None or words[0] != "Z" or int(words[19]) != start_ticks or not _may_read(pid):
        return None
    return int(words[49])


def stat_words(pid: int) -> list[str] | None:
    """Returns the fields of /proc/PID/stat from the state on, None where the process is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return text[text.rindex(")") + 2 :].split()


def read_start(pid: int) -> int | None:
    """Returns when a process began, in clock ticks since boot."""
    words = stat_words(pid)
    return int(words[19]) if words is not None else None


def _may_read(pid: int) -> bool:
    try:
        return os.geteuid() in (0, Path(f"/proc/{pid}").stat().st_uid)
    except OSError:
        return False


def adopt_orphans(*, wanted: bool = True) -> bool:
    """Returns whether the kernel agreed; processes already orphaned elsewhere stay there."""
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
