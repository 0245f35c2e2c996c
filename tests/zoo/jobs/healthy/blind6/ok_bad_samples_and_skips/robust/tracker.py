import queue
import threading
import traceback


class Unavailable(ConnectionError):
    pass


class Tracker:
    """Sends numbers to a server in the background; training goes on without the server."""

    def __init__(self, rank):
        self.rank, self.sent, self.lost = rank, 0, 0
        self.queue = queue.Queue()
        self.thread = threading.Thread(target=self._send_all, daemon=True)
        self.thread.start()

    def log(self, step, loss):
        self.queue.put((step, loss))

    def _post(self, item):
        if self.rank == 0 and item[0] in (3, 4):
            raise Unavailable("503 from the tracking server")
        self.sent += 1

    def _send_all(self):
        while (item := self.queue.get()) is not None:
            try:
                self._post(item)
            except Unavailable:
                traceback.print_exc()
                self.lost += 1

    def close(self):
        self.queue.put(None)
        self.thread.join()
