"""The parent has such an object, whose thread runs, and the child takes its copy of the lock."""
import multiprocessing as mp
import threading


class Averager:
    def __init__(self):
        self._lock = threading.RLock()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            with self._lock:
                pass

    def update(self):
        with self._lock:
            return 1


shared = Averager()


def train():
    shared.update()


def main():
    peers = [mp.Process(target=train) for _ in range(4)]
    for peer in peers:
        peer.start()
    for peer in peers:
        peer.join()


main()
