import time


class TimeBudget:
    """Wall clock limit of a slot on the shared cluster."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.begin = time.monotonic()

    def left(self):
        return self.seconds - (time.monotonic() - self.begin)

    def expired(self):
        return self.left() <= 0
