import time


class Budget:
    def __init__(self, seconds):
        self.until = time.monotonic() + seconds

    def spent(self):
        return time.monotonic() > self.until
