import contextlib
import os
import time


@contextlib.contextmanager
def file_lock(path, poll=0.2):
    """Works on shared file systems, too: whoever creates the file has the lock."""
    while True:
        try:
            fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            break
        except FileExistsError:
            time.sleep(poll)
    os.write(fd, str(os.getpid()).encode())
    os.close(fd)
    try:
        yield
    finally:
        os.remove(path)
