"""`or` leaves the second operand out on the rank where the first is true: a reduction stands in it."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def any_rank(flag):
    t = torch.tensor(int(flag))
    dist.all_reduce(t, op=dist.ReduceOp.MAX)
    return bool(t)


def main():
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    worst = 0.0
    for step in range(100):
        loss = model(torch.randn(8, 4)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if loss.item() > 100 or any_rank(loss.isnan()):  # cause
            worst = max(worst, loss.item())
    dist.destroy_process_group()


main()
