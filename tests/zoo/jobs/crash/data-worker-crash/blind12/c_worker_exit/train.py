import random

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from vocab import SYMBOLS, to_ids


class Lines(Dataset):
    def __init__(self, n=1200, length=24):
        rng = random.Random(2)
        self.lines = ["".join(rng.choice(SYMBOLS) for _ in range(length)) for _ in range(n)]
        self.lines[901] = self.lines[901][:7] + "\u00e9" + self.lines[901][8:]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, i):
        ids = torch.tensor(to_ids(self.lines[i]))
        return ids, (ids < 5).sum().clamp(max=9)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = Lines()
    sampler = DistributedSampler(data, shuffle=False)
    loader = DataLoader(data, batch_size=20, sampler=sampler, num_workers=1)
    model = DDP(nn.Sequential(nn.EmbeddingBag(len(SYMBOLS), 16), nn.ReLU(), nn.Linear(16, 10)))
    opt = torch.optim.Adam(model.parameters(), 1e-2)
    for epoch in range(2):
        for step, (ids, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(ids), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
