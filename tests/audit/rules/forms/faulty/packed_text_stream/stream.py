import glob
import os
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


@dataclass
class StreamConfig:
    pattern: str = "/data/fineweb/*.bin"
    seq_len: int = 2048
    batch_size: int = 8
    num_workers: int = 6
    seed: int = 1234


class PackedTokens(IterableDataset):
    def __init__(self, cfg: StreamConfig, rank: int, world: int):
        self.cfg = cfg
        files = sorted(glob.glob(cfg.pattern))
        if len(files) < world * max(1, cfg.num_workers):
            raise ValueError(f"{len(files)} shards for {world} ranks")
        self.files = files[rank::world]  # cause
        self.rank = rank

    def _read(self, path):
        tokens = np.memmap(path, dtype=np.uint16, mode="r")
        n = self.cfg.seq_len
        for start in range(0, len(tokens) - n - 1, n):
            yield torch.from_numpy(tokens[start : start + n + 1].astype(np.int64))

    def __iter__(self):
        info = get_worker_info()
        wid = info.id if info is not None else 0
        rng = np.random.default_rng((self.cfg.seed, self.rank, wid))  # cause
        while True:
            for i in rng.permutation(len(self.files)):  # cause
                for row in self._read(self.files[i]):
                    yield row[:-1], row[1:]


def build(cfg: StreamConfig):
    ds = PackedTokens(cfg, int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    return DataLoader(ds, batch_size=cfg.batch_size, num_workers=cfg.num_workers, pin_memory=True)
