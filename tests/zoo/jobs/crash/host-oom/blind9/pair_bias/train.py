import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from model import PairBias

LENGTHS = [[40, 64, 52, 80, 33, 47], [38, 71, 60, 1_500_000, 45, 50], [66, 35, 48, 70, 90, 41]]


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(PairBias())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        for n in LENGTHS[rank]:
            x = torch.randn(1, n, 8)
            pos = torch.arange(n, dtype=torch.int32)[None]
            loss = model(x, pos).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(rank, epoch, loss.item(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
