import queue
import threading


class Writer:
    """Writes scalars from a thread, so that a slow disk does not hold up training."""

    def __init__(self, path):
        self.rows = queue.Queue()
        self.file = open(path, "w")
        self.thread = threading.Thread(target=self._drain)
        self.thread.start()

    def add(self, name, value, step):
        self.rows.put((name, value, step))

    def close(self):
        self.rows.put(None)
        self.thread.join()
        self.file.close()

    def _drain(self):
        while (row := self.rows.get()) is not None:
            self.file.write(",".join(map(str, row)) + "\n")
