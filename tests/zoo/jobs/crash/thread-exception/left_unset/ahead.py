import threading

import tiles


class Ahead:
    """Reads the next tile while the model works on this one."""

    def __init__(self, order):
        self.order = iter(order)
        self.ready = None
        self.reader = None
        self.begin()

    def begin(self):
        index = next(self.order, None)
        self.ready = None
        self.reader = threading.Thread(target=self.read_one, args=(index,), daemon=True)
        self.reader.start()

    def read_one(self, index):
        if index is not None:
            self.ready = tiles.read(index)

    def next(self):
        self.reader.join()
        tile = self.ready
        self.begin()
        return tile
