import tempfile

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from feature_store import WIDTH, FeatureStore

TILES = 2048


class SlideEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.Linear(WIDTH, 1)
        self.head = nn.Linear(WIDTH, 3)

    def forward(self, tiles):
        weights = self.attention(tiles).softmax(dim=0)
        return self.head((weights * tiles).sum(dim=0, keepdim=True))


class Epochs:
    def __init__(self, store, rank, world):
        self.store, self.rank, self.world = store, rank, world
        self.model = DistributedDataParallel(SlideEncoder())
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def order(self, epoch):
        rows = np.random.default_rng(epoch).permutation(self.store.count)
        even = len(rows) // (16 * self.world) * 16 * self.world
        return rows[:even].reshape(-1, self.world, 16)[:12, self.rank]

    def run(self, epoch):
        for rows in self.order(epoch):
            tiles = torch.from_numpy(self.store.read(rows))
            target = torch.tensor([int(rows[0]) % 3])
            loss = nn.functional.cross_entropy(self.model(tiles), target)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    folder = [tempfile.mkdtemp(prefix="slides-") if rank == 0 else None]
    dist.broadcast_object_list(folder)
    store = FeatureStore(folder[0])
    if rank == 0:
        store.create(TILES, seed=0)
    dist.barrier()
    store.open()
    torch.manual_seed(0)
    epochs = Epochs(store, rank, world)
    for epoch in range(3):
        loss = epochs.run(epoch)
        if rank == 0:
            print(f"epoch {epoch} tiles {store.count} loss {loss:.4f}", flush=True)
        if epoch == 0 and rank == 0:
            store.drop_background(threshold=1.2)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
