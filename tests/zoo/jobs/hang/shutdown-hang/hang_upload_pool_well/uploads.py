import shutil
import threading
from concurrent.futures import ThreadPoolExecutor


class Uploader:
    """Copies checkpoints away, always the last but one: the newest may still change."""

    def __init__(self):
        self.pool = ThreadPoolExecutor(max_workers=4)
        self.newer = None

    def submit(self, path):
        if self.newer is not None:
            self.newer.set()
        self.newer = threading.Event()
        self.pool.submit(self._copy, path, self.newer)

    def _copy(self, path, newer):
        newer.wait()
        shutil.copy(path, path + ".uploaded")
