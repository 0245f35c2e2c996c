import logging
import queue
import threading

import torch

log = logging.getLogger(__name__)


def render(tile, scene):
    g = torch.Generator().manual_seed(tile)
    img = torch.randn(3, 16, 16, generator=g)
    return img, scene["classes"][tile % scene["period"]]


class TileFeed:
    def __init__(self, tiles, scenes, batch, depth=4):
        self.tiles, self.scenes, self.batch = tiles, scenes, batch
        self.q = queue.Queue(depth)
        self.thread = threading.Thread(target=self._pump, daemon=True)
        self.thread.start()

    def _pump(self):
        try:
            for i in range(0, len(self.tiles), self.batch):
                chunk = self.tiles[i:i + self.batch]
                xs, ys = zip(*(render(t, self.scenes[t // 100]) for t in chunk))
                self.q.put((torch.stack(xs), torch.tensor(ys)))
            self.q.put(None)
        except KeyError as exc:
            log.debug("feed stopped: %r", exc)

    def __iter__(self):
        while True:
            item = self.q.get()
            if item is None:
                return
            yield item
