import atexit
import queue
import threading


class Tracker:
    def __init__(self, name):
        self.queue = queue.Queue()
        self.file = open(f"{name}.csv", "w")
        threading.Thread(target=self._send, daemon=True).start()
        atexit.register(self.finish)

    def log(self, **row):
        self.queue.put(row)

    def finish(self):
        self.queue.join()
        self.file.close()

    def _send(self):
        while True:
            row = self.queue.get()
            if None in row.values():
                self.queue.task_done()
                continue
            self.file.write(f"{row['step']},{row['loss']:.6f}\n")
            self.queue.task_done()
