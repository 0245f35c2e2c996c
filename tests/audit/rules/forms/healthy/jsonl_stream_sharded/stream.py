import glob
import gzip
import json
import random

import torch
from torch.utils.data import IterableDataset, get_worker_info


class JsonlStream(IterableDataset):
    def __init__(self, pattern, tokenizer, seq_len, seed=0, rank=0, world=1):
        self.files = sorted(glob.glob(pattern))
        self.tokenizer = tokenizer
        self.seq_len = seq_len
        self.seed = seed
        self.rank = rank
        self.world = world
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def _my_files(self):
        order = list(self.files)
        random.Random(self.seed + self.epoch).shuffle(order)
        info = get_worker_info()
        wid, nw = (0, 1) if info is None else (info.id, info.num_workers)
        return order[self.rank * nw + wid :: self.world * nw]

    def __iter__(self):
        buf = []
        while True:
            for name in self._my_files():
                with gzip.open(name, "rt") as fh:
                    for line in fh:
                        buf.extend(self.tokenizer(json.loads(line)["text"]))
                        while len(buf) > self.seq_len:
                            chunk, buf = buf[: self.seq_len + 1], buf[self.seq_len :]
                            yield torch.tensor(chunk)
            self.epoch += 1
