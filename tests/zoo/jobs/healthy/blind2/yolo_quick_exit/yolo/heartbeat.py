import threading
import time


class Heartbeat(threading.Thread):
    """Never ends by itself; the process goes down under it."""

    def __init__(self, period=0.5):
        super().__init__(name="heartbeat")
        self.period, self.beats = period, 0

    def run(self):
        while True:
            time.sleep(self.period)
            self.beats += 1
