"""The mean of the loss is reduced only where it is logged: on rank 0."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Meter:
    def __init__(self):
        self.values = []

    def update(self, value):
        self.values.append(value.item())

    @property
    def global_avg(self):
        total = torch.tensor([sum(self.values), float(len(self.values))])
        dist.all_reduce(total)
        return (total[0] / total[1]).item()

    def __str__(self):
        return f"{self.global_avg:.4f}"


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    meter = Meter()
    for step in range(100):
        loss = model(torch.randn(8, 4)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        meter.update(loss)
        if rank == 0 and step % 10 == 0:  # cause
            print(f"step {step} loss {meter}")  # cause
    dist.destroy_process_group()


main()
