import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

from codec import HEADER, encode, decode


class Images(IterableDataset):
    def __init__(self, rank, world, count=400):
        self.rank, self.world, self.count = rank, world, count

    def blob(self, i):
        rng = np.random.default_rng(i)
        blob = encode(rng.integers(0, 255, (8, 8), dtype=np.uint8))
        if i == 151:
            blob = HEADER.pack(60000, 60000) + blob[HEADER.size:]
        return blob

    def __iter__(self):
        info = get_worker_info()
        step = self.world * info.num_workers
        for i in range(self.rank * info.num_workers + info.id, self.count, step):
            image = decode(self.blob(i))
            yield torch.from_numpy(image[:8, :8].astype("float32") / 255).flatten()
