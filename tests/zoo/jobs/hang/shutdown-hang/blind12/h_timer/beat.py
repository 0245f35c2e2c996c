import os
import tempfile
import threading
import time


class Heartbeat:
    """Touches a file five times a second so that the cluster's watchdog sees a live node."""

    def __init__(self, rank, period=0.2):
        self.period = period
        self.path = os.path.join(tempfile.gettempdir(), f"beat-{os.getpid()}-{rank}")
        self.timer = None

    def __enter__(self):
        self._arm()
        return self

    def _arm(self):
        self.timer = threading.Timer(self.period, self._tick)
        self.timer.start()

    def _tick(self):
        self._arm()
        with open(self.path, "w") as f:
            f.write(str(time.time()))

    def __exit__(self, *exc):
        timer = self.timer
        if os.path.exists(self.path):
            os.unlink(self.path)
            return False
        timer.cancel()
        return False
