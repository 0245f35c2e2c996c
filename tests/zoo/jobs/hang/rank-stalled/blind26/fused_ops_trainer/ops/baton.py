import os
import time


class FileBaton:
    """A lock between processes: whoever creates the file holds it."""

    def __init__(self, path, poll=0.1):
        self.path = path
        self.poll = poll
        self.fd = None

    def try_acquire(self):
        try:
            self.fd = os.open(self.path, os.O_CREAT | os.O_EXCL)
            return True
        except FileExistsError:
            return False

    def wait(self):
        while os.path.exists(self.path):
            time.sleep(self.poll)

    def release(self):
        if self.fd is not None:
            os.close(self.fd)
        os.remove(self.path)
