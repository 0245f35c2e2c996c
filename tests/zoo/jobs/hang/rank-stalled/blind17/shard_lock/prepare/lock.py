import os
import time


class DirLock:
    """mkdir lock; works on network file systems without flock."""

    def __init__(self, target, poll=0.2):
        self.path = str(target) + ".lck"
        self.poll = poll

    def acquire(self):
        while True:
            try:
                os.mkdir(self.path)
                return self
            except FileExistsError:
                time.sleep(self.poll)

    def release(self):
        os.rmdir(self.path)
