import os
import threading
import time


class Journal:
    """A log file that a thread rotates when it has enough lines."""

    def __init__(self, path, rotate_after):
        self.path, self.rotate_after = path, rotate_after
        self.file_lock, self.count_lock = threading.Lock(), threading.Lock()
        self.file, self.lines = open(path, "w"), 0
        self.full = threading.Event()
        threading.Thread(target=self._rotate_when_full, daemon=True).start()

    def write(self, step, loss):
        with self.count_lock:
            self.lines += 1
            if self.lines == self.rotate_after:
                self.full.set()
                time.sleep(0.05)  # fsync of a full file
            with self.file_lock:
                self.file.write(f"{step} {loss}\n")

    def _rotate_when_full(self):
        while self.full.wait():
            with self.count_lock, self.file_lock:
                self.file.close()
                os.replace(self.path, self.path + ".1")
                self.file = open(self.path, "w")
                self.lines = 0
            self.full.clear()
