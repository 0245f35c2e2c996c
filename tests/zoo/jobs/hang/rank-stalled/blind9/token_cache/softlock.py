import os
import time


class SoftLock:
    def __init__(self, path, poll=0.1):
        self.path, self.poll, self.fd = path, poll, None

    def __enter__(self):
        while True:
            try:
                self.fd = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                return self
            except FileExistsError:
                time.sleep(self.poll)

    def __exit__(self, *exc):
        os.close(self.fd)
        os.unlink(self.path)
