import time
from datetime import timedelta

import torch.distributed as dist


class Artifact:
    """Rank 0 makes it, the others ask the store for it and do something useful in between."""

    def __init__(self, store, name):
        self.store, self.name = store, name

    def publish(self, make):
        value = make()
        self.store.set(self.name, value)
        return value

    def obtain(self, meanwhile):
        tries = 0
        while True:
            try:
                self.store.wait([self.name], timedelta(seconds=1))
                return self.store.get(self.name).decode(), tries
            except dist.DistError:
                tries += 1
                meanwhile(tries)


def slow_index():
    time.sleep(5)
    return "index-v1"
