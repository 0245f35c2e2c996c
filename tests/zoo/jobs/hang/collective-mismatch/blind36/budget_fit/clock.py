"""Time limits, for queues that end jobs after a fixed time."""
import time


class WallClock:
    def __init__(self, limit):
        self.limit = limit
        self.start = time.monotonic()

    def elapsed(self):
        return time.monotonic() - self.start

    def exhausted(self):
        return self.limit > 0 and self.elapsed() >= self.limit
