import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP


def clips(rank):
    g = torch.Generator().manual_seed(rank)
    for n in range(20 + 9 * rank):
        yield torch.randn(4 + n % 3, 6, generator=g)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 6)))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    done = 0
    for epoch in range(2):
        with Join([model]):
            for x in clips(rank):
                loss = (model(x) - x).pow(2).mean()
                opt.zero_grad()
                loss.backward()
                opt.step()
                done += 1
    print(f"rank {rank} made {done} steps, loss {loss.item():.3f}")
    dist.destroy_process_group()


main()
