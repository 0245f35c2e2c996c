import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Guard:
    def __init__(self):
        self.skipped = 0

    def bad(self, loss):
        flag = torch.tensor(float(not torch.isfinite(loss)))
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        self.skipped += int(flag.item() > 0)
        return flag.item() > 0


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    g = torch.Generator().manual_seed(rank)
    model, guard = DDP(nn.Linear(7, 7)), Guard()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(120):
        x = torch.randn(8, 7, generator=g)
        if (step, rank) in ((31, 1), (77, 2)):
            x[3, 2] = float("inf")
        loss = (model(x) - x.flip(1)).pow(2).mean()
        if guard.bad(loss):
            print(f"rank {rank} skips step {step}, own loss {loss.item()}", flush=True)
            continue
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(rank, "skipped", guard.skipped, "loss", loss.item())
    dist.destroy_process_group()


main()
