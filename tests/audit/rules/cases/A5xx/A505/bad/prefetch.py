import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import torch


class Prefetcher:
    def __init__(self, loader, scale):
        self.loader, self.scale = loader, scale
        self.queue = queue.Queue(4)

    def _work(self):
        for step, (x, y) in enumerate(self.loader):
            self.queue.put((x, y * self.scale[step]))
        self.queue.put(None)

    def __iter__(self):
        threading.Thread(target=self._work, daemon=True).start()
        while (item := self.queue.get()) is not None:
            yield item


def convert(path):
    torch.save(torch.load(path).half(), path + ".half")


def convert_all(paths):
    with ThreadPoolExecutor(8) as pool:
        for path in paths:
            pool.submit(convert, path)
    print("all converted")
