import numpy as np
import torch


class Stream:
    def __init__(self, path, block_size, batch_size, seed):
        self.data = np.memmap(path, dtype=np.uint16, mode="r")
        self.block_size, self.batch_size = block_size, batch_size
        self.gen = torch.Generator().manual_seed(seed)

    def get_batch(self):
        ix = torch.randint(len(self.data) - self.block_size - 1, (self.batch_size,), generator=self.gen)
        rows = [torch.from_numpy(self.data[i : i + self.block_size + 1].astype(np.int64)) for i in ix]
        both = torch.stack(rows)
        return both[:, :-1], both[:, 1:]
