import contextlib
import os
import time


@contextlib.contextmanager
def exclusive(path, poll=0.25):
    marker = path + ".lock"
    while True:
        try:
            fd = os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            break
        except FileExistsError:
            time.sleep(poll)
    os.write(fd, str(os.getpid()).encode())
    os.close(fd)
    try:
        yield
    finally:
        os.unlink(marker)
