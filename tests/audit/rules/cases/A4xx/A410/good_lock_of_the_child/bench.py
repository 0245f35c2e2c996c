"""Each process makes the object with the lock itself: what a thread of the parent holds is another one."""
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


def train():
    averager = Averager()
    averager.update()
    return averager


def main():
    peers = [mp.Process(target=train) for _ in range(4)]
    for peer in peers:
        peer.start()
    for peer in peers:
        peer.join()


main()
