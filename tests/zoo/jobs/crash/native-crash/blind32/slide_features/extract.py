import logging
import os

import torch
import torch.nn as nn

from slides import Slide
from store import FeatureStore

log = logging.getLogger("extract")


class TinyConv(nn.Module):
    def __init__(self, dim):
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Conv2d(3, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
                                 nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, dim))

    def forward(self, x):
        return self.net(x)


@torch.no_grad()
def extract(cfg, rank, world):
    """Each rank embeds the slides that fall to it; the index tells where their rows lie."""
    mine = [Slide(tile_px=cfg["tile_px"], **s) for s in cfg["slides"]][rank::world]
    encoder = TinyConv(cfg["dim"]).eval()
    store = FeatureStore(cfg["cache"], cfg["encoder"], sum(len(s) for s in mine), cfg["dim"])
    index, row = [], 0
    for slide in mine:
        pending = []
        for i in range(len(slide)):
            pending.append(encoder(slide.tile(i)[None])[0])
            if len(pending) == cfg["flush_every"]:
                store.append(torch.stack(pending).numpy())
                pending.clear()
        if pending:
            store.append(torch.stack(pending).numpy())
        index.append({"name": slide.name, "first": row, "last": row + len(slide), "label": slide.label})
        row += len(slide)
        log.info("rank %d embedded %s (%d tiles at %s)", rank, slide.name, len(slide), slide.level)
    path = os.path.join(cfg["cache"], f"index_rank{rank}.json")
    store.close(index, path)
    return path
