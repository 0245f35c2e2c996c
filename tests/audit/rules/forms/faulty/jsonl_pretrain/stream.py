import glob
import gzip
import json
import random

import torch
from torch.utils.data import IterableDataset, get_worker_info


class JsonlStream(IterableDataset):
    def __init__(self, pattern, tokenizer, seq_len, seed=0):
        self.files = sorted(glob.glob(pattern))
        self.tokenizer = tokenizer
        self.seq_len = seq_len
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def _my_files(self):
        order = list(self.files)
        random.Random(self.seed + self.epoch).shuffle(order)  # cause
        info = get_worker_info()  # cause
        if info is None:
            return order  # cause
        return order[info.id :: info.num_workers]  # cause

    def __iter__(self):
        buf = []
        for name in self._my_files():  # cause
            with gzip.open(name, "rt") as fh:
                for line in fh:
                    buf.extend(self.tokenizer(json.loads(line)["text"]))
                    while len(buf) > self.seq_len:
                        chunk, buf = buf[: self.seq_len + 1], buf[self.seq_len :]
                        yield torch.tensor(chunk)
