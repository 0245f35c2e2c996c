import concurrent.futures
import torch


class Prefetcher:
    def __init__(self, files):
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        self.files = files

    def start(self):
        for path in self.files:
            self.pool.submit(self._convert, path)  # cause

    def _convert(self, path):
        torch.save(torch.load(path, weights_only=True).half(), str(path) + ".half")

    def finish(self):
        self.pool.shutdown(wait=True)


def main():
    prefetcher = Prefetcher(["a.pt", "b.pt"])
    prefetcher.start()
    prefetcher.finish()
    print("converted")


main()
