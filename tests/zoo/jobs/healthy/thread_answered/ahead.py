import queue
import threading

import tiles


class Ahead:
    """Reads tiles while the model works; what the reader cannot read is made anew by the main thread."""

    def __init__(self, order):
        self.order = list(order)
        self.place = 0
        self.ready = queue.Queue(2)
        threading.Thread(target=self.pump, args=(self.order,), daemon=True).start()

    def pump(self, order):
        try:
            for index in order:
                self.ready.put(tiles.read(index))
        finally:
            self.ready.put(None)

    def next(self):
        index = self.order[self.place]
        self.place += 1
        tile = self.ready.get()
        if tile is None:
            print(f"tile {index} is packed in a way of its own", flush=True)
            tile = tiles.read(index + 1)
            threading.Thread(target=self.pump, args=(self.order[self.place :],), daemon=True).start()
        return tile
