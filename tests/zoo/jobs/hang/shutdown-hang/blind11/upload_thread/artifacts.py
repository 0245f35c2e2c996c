import queue
import shutil
import tempfile
import threading


class Uploader(threading.Thread):
    def __init__(self):
        super().__init__(name="uploader")
        self.jobs = queue.Queue()
        self.target = tempfile.mkdtemp()

    def run(self):
        while True:
            path = self.jobs.get()
            if path is None:
                break
            shutil.copy(path, self.target)

    def submit(self, path):
        self.jobs.put(path)

    def close(self):
        self.jobs.put(None)
        self.join()
