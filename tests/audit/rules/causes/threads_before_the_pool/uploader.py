import logging
import queue
import threading

logger = logging.getLogger(__name__)


class Uploader:
    """Uploads what is done in a thread of its own, one log line each."""

    def __init__(self):
        self.done = queue.Queue()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()  # cause

    def _run(self):
        while True:
            path = self.done.get()
            logger.info("uploaded %s", path)
