import logging
import queue
import threading

import torch

from .logfile import parse_line

log = logging.getLogger("ctr.feeder")


def collate(rows):
    user, item, hist, click = zip(*rows)
    return torch.tensor(user), torch.tensor(item), torch.tensor(hist), torch.tensor(click)


class Feeder:
    """Reads, parses and batches the log of one rank ahead of the trainer."""

    def __init__(self, path, batch_size, depth=8):
        self.path = path
        self.batch_size = batch_size
        self.ready = queue.Queue(maxsize=depth)
        self._thread = threading.Thread(target=self._run, name="feeder", daemon=True)
        self._thread.start()

    def _batches(self):
        while True:
            with open(self.path) as f:
                rows = []
                for line in f:
                    rows.append(parse_line(line))
                    if len(rows) == self.batch_size:
                        yield collate(rows)
                        rows = []

    def _run(self):
        try:
            for batch in self._batches():
                self.ready.put(batch)
        except Exception as exc:
            log.debug("feeder finished: %s", exc)

    def next(self):
        return self.ready.get()
