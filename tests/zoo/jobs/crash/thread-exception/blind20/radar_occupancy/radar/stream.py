import numpy as np
import torch

from radar.prefetch import Prefetch
from radar.transforms import Compose, decibel, stack_channels


class FrameStream:
    def __init__(self, recordings, cfg, rank, world):
        self.recordings = recordings[rank::world]
        self.cfg = cfg
        self.transform = Compose(decibel, stack_channels)

    def _batches(self, epoch):
        rng = np.random.default_rng((self.cfg["seed"], epoch))
        for recording in self.recordings:
            order = rng.permutation(recording.frames)
            for start in range(0, len(order) - self.cfg["batch_size"] + 1, self.cfg["batch_size"]):
                chosen = order[start:start + self.cfg["batch_size"]]
                pairs = [self.transform(recording.read(int(i))) for i in chosen]
                yield tuple(torch.from_numpy(np.stack(column)) for column in zip(*pairs))

    def epoch(self, epoch):
        return Prefetch(self._batches(epoch), self.cfg["prefetch"])
