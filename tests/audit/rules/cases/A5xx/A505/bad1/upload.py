import shutil
from concurrent.futures import ThreadPoolExecutor


class Uploader:
    def __init__(self, target):
        self.pool = ThreadPoolExecutor(1)
        self.target = target

    def checkpoint(self, path):
        self.pool.submit(shutil.copy, path, self.target)
