import os
import time


class Beat:
    def __init__(self, every=1.0):
        self.path, self.every, self.last = os.environ.get("BEAT_FILE"), every, 0.0

    def __call__(self):
        now = time.time()
        if self.path and now - self.last >= self.every:
            os.utime(self.path)
            self.last = now
