"""A lock on an open file that keeps two repairs from changing it at once; it ends with the process, however it ends."""

from __future__ import annotations

import errno
import fcntl

WITHOUT_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF})


def lock(fd: int) -> bool | None:
    """Returns whether the file is ours to change, None where its file system has no locks. OSError passes."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno == errno.EWOULDBLOCK:
            return False
        if error.errno in WITHOUT_LOCKS:
            return None
        raise
    return True
