import math

import torch
from torch.utils.data import IterableDataset, get_worker_info


class GalaxyShard:
    """One parquet-like shard: 32 galaxies of 12 x 12 pixels, made on the fly."""

    def __init__(self, index):
        self.index = index

    def rows(self):
        g = torch.Generator().manual_seed(900 + self.index)
        yy, xx = torch.meshgrid(torch.linspace(-1, 1, 12), torch.linspace(-1, 1, 12), indexing="ij")
        for _ in range(32):
            a, b, angle = torch.rand(3, generator=g)
            angle = angle * math.pi
            u = xx * torch.cos(angle) + yy * torch.sin(angle)
            v = yy * torch.cos(angle) - xx * torch.sin(angle)
            image = torch.exp(-((u / (0.2 + 0.5 * a)) ** 2 + (v / (0.2 + 0.5 * b)) ** 2))
            yield image + 0.05 * torch.randn(12, 12, generator=g)


class GalaxyStream(IterableDataset):
    """Streams galaxies as spirally ordered patches; shards are shared out among loader workers."""

    def __init__(self, num_shards, shuffle_buffer_size=48, seed=0):
        self.shards = [GalaxyShard(i) for i in range(num_shards)]
        self.shuffle_buffer_size = shuffle_buffer_size
        self.seed = seed

    def process(self, image):
        patches = image.unfold(0, 3, 3).unfold(1, 3, 3).reshape(16, 9)
        return (patches - patches.mean()) / patches.std()

    def __iter__(self):
        info = get_worker_info()
        worker, num_workers = (info.id, info.num_workers) if info else (0, 1)
        rng = torch.Generator().manual_seed(self.seed + worker)
        buffer = []
        for shard in self.shards[worker::num_workers]:
            for image in shard.rows():
                buffer.append(self.process(image))
                if len(buffer) >= self.shuffle_buffer_size:
                    yield buffer.pop(int(torch.randint(len(buffer), (1,), generator=rng)))
        while buffer:
            yield buffer.pop(int(torch.randint(len(buffer), (1,), generator=rng)))
