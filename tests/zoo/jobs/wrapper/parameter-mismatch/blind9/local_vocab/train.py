import random

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from vocab import Vocab


def corpus():
    rng = random.Random(4)
    words = [f"w{i}" for i in range(40)]
    lines = [" ".join(rng.choice(words) for _ in range(8)) for _ in range(300)]
    lines += [line.replace("w7", "W7") for line in lines[:20]]
    return lines


class Classifier(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.emb = nn.EmbeddingBag(size, 12)
        self.out = nn.Linear(12, 2)

    def forward(self, ids):
        return self.out(self.emb(ids))


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    lines = corpus()
    per = len(lines) // world + 1
    mine = lines[rank * per : (rank + 1) * per]
    vocab = Vocab().fit(mine)
    torch.manual_seed(0)
    model = DDP(Classifier(len(vocab.index)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(2):
        for i in range(0, 80, 8):
            ids = torch.tensor([vocab.encode(s) for s in mine[i : i + 8]])
            loss = nn.functional.cross_entropy(model(ids), (ids.sum(1) % 2))
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(rank, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
