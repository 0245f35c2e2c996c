import queue
import threading


class PrefetchingWrapper:
    """Fills a small buffer with batches in a thread of its own."""

    def __init__(self, sampler, buffer_size=4):
        self.sampler = sampler
        self._queue = queue.Queue(maxsize=buffer_size)
        self._stop_event = threading.Event()
        self._thread = threading.Thread(target=self._worker, name="prefetch")
        self._thread.start()

    def _worker(self):
        for batch in self.sampler:
            if self._stop_event.is_set():
                return
            self._queue.put(batch)

    def __iter__(self):
        return self

    def __next__(self):
        return self._queue.get()

    def shutdown(self):
        self._stop_event.set()
