import glob
import itertools
import json

import torch
from torch.utils.data import IterableDataset, get_worker_info


class JsonlStream(IterableDataset):  # cause
    def __init__(self, pattern, seq_len, rank, world_size):
        self.files = sorted(glob.glob(pattern))
        self.seq_len = seq_len
        self.rank = rank
        self.world_size = world_size

    def _slots(self):
        info = get_worker_info()  # cause
        if info is None:
            return 0, 1
        return info.id, info.num_workers  # cause

    def _tokens(self, path):
        with open(path, encoding="utf-8") as fh:
            for line in fh:
                yield from json.loads(line)["ids"]

    def __iter__(self):  # cause
        slot, slots = self._slots()  # cause
        for path in itertools.cycle(self.files[slot::slots]):  # cause
            buf = []
            for tok in self._tokens(path):
                buf.append(tok)
                if len(buf) == self.seq_len + 1:
                    t = torch.tensor(buf)
                    yield t[:-1], t[1:]
                    buf = []
