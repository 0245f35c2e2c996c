import logging

import torch

log = logging.getLogger(__name__)


class ProjectorHook:
    """Collects embeddings and thumbnails of training batches for the scatter plot of the epoch."""

    def __init__(self, start_epoch, points, sink=None):
        self.start_epoch, self.points, self.sink = start_epoch, points, sink
        self.vectors, self.thumbs = [], []

    def after_step(self, epoch, crops, embedding):
        if epoch >= self.start_epoch:
            self.vectors.append(embedding.detach())
            self.thumbs.append(crops)

    def after_epoch(self, epoch):
        if not self.vectors:
            return
        v = torch.cat([e[:4] for e in self.vectors])[-self.points:]
        spread = v.std(0).mean().item()
        log.info("epoch %d projector %d points, spread %.3f", epoch, len(v), spread)
        if self.sink is not None:
            self.sink.write(epoch, v, self.thumbs)
            self.vectors.clear()
            self.thumbs.clear()


class NoHook:
    def after_step(self, *a):
        pass

    def after_epoch(self, *a):
        pass
