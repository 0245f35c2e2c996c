"""Training for a given number of seconds rather than of epochs, as the queue's jobs need it."""
import contextlib
import time


class Budget:
    """Seconds of training. What is not training (writing files, drawing figures) is taken out with `pause`."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.begin = time.monotonic()
        self.paused = 0.0

    @contextlib.contextmanager
    def pause(self):
        at = time.monotonic()
        try:
            yield
        finally:
            self.paused += time.monotonic() - at

    def used(self) -> float:
        return time.monotonic() - self.begin - self.paused

    def spent(self) -> bool:
        return self.used() >= self.seconds
