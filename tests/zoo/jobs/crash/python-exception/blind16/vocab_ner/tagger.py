import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Labels:
    def __init__(self, seen):
        self.index = {s: i for i, s in enumerate(sorted(seen))}

    def encode(self, names):
        return torch.tensor([self.index[n] for n in names])


def shard(rank, world, n=1200):
    tags = ["O", "LOC", "PER", "ORG"]
    rows = [(i, tags[(i // 2) % 4]) for i in range(n)]
    rows[901] = (901, "MISC")
    return rows[rank::world]


def main():
    dist.init_process_group("gloo")
    rows = shard(dist.get_rank(), dist.get_world_size())
    labels = Labels({t for _, t in rows[:200]})
    net = DDP(nn.Sequential(nn.Embedding(1200, 16), nn.Linear(16, 4)))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for k in range(0, len(rows), 10):
        ids, names = zip(*rows[k:k + 10])
        loss = nn.functional.cross_entropy(net(torch.tensor(ids)), labels.encode(names))
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
