import threading
import time


class FileSink:
    """Stands for the statsd endpoint: one line per counter, rate limited."""

    def __init__(self, path, delay=0.25):
        self.path, self.delay = path, delay

    def send(self, name, value):
        with open(self.path, "a") as f:
            f.write(f"{time.time():.3f} {name} {value}\n")
        time.sleep(self.delay)


class Uploader(threading.Thread):

    def __init__(self, registry, sink, period=0.005):
        super().__init__(name="telemetry", daemon=True)
        self.registry, self.sink, self.period = registry, sink, period
        self.stopped = threading.Event()

    def run(self):
        while not self.stopped.wait(self.period):
            self.registry.increment("uploads")
            self.registry.drain(self.sink)

    def stop(self):
        self.stopped.set()
        self.join(timeout=10)
