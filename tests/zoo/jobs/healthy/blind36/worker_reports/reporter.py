"""Uploads checkpoints from a thread of its own. Failures are repeated, and those that stay end the run."""
import logging
import queue
import threading
import time

from storage import SlowDown

logger = logging.getLogger("report")


class CheckpointReporter:
    def __init__(self, store, max_consecutive_failures=20, pause=0.3):
        self.store = store
        self.max_failures, self.pause = max_consecutive_failures, pause
        self.queue = queue.Queue()
        self.error = None
        self.repeated = 0
        self.thread = threading.Thread(target=self._work, name="reporter")
        self.thread.start()

    def _upload(self, source, key):
        for attempt in range(self.max_failures):
            try:
                return self.store.put(source, key)
            except SlowDown as error:
                logger.warning("upload of %s failed (%s), trial %d", key, error, attempt + 1)
                self.repeated += 1
                time.sleep(self.pause)
        raise RuntimeError(f"{key}: {self.max_failures} uploads failed one after another")

    def _work(self):
        while (item := self.queue.get()) is not None:
            try:
                self._upload(*item)
            except Exception as error:
                self.error = error
                return

    def report(self, source, key):
        self.check()
        self.queue.put((source, key))

    def check(self):
        if self.error is not None:
            raise self.error

    def finish(self):
        self.queue.put(None)
        self.thread.join()
        self.check()
