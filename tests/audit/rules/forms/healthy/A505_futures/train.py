import concurrent.futures
import torch


class Prefetcher:
    def __init__(self, files):
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        self.files = files
        self.futures = []

    def start(self):
        for path in self.files:
            self.futures.append(self.pool.submit(self._convert, path))

    def _convert(self, path):
        torch.save(torch.load(path, weights_only=True).half(), str(path) + ".half")

    def finish(self):
        self.pool.shutdown(wait=True)
        for future in self.futures:
            future.result()


def main():
    prefetcher = Prefetcher(["a.pt", "b.pt"])
    prefetcher.start()
    prefetcher.finish()
    print("converted")


main()
