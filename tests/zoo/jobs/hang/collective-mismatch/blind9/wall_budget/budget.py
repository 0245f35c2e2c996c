import time


class WallBudget:
    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    @property
    def left(self):
        return self.end - time.monotonic()

    def over(self):
        return self.left <= 0
