import time


class Budget:
    """A time budget with a least number of steps."""

    def __init__(self, seconds, min_steps):
        self.seconds, self.min_steps = seconds, min_steps
        self.start = time.monotonic()

    def spent(self, steps):
        return steps >= self.min_steps and time.monotonic() - self.start >= self.seconds
