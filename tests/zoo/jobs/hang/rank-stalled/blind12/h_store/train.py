import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from coord import Mailbox


class Schedule:
    def __init__(self, every=20):
        self.every = every

    def due(self, step):
        return step % self.every == 0


def main(steps=120):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(4)
    model = DDP(nn.Linear(12, 3))
    opt = torch.optim.SGD(model.parameters(), 0.1)
    box = Mailbox("validation")
    report = Schedule()
    g = torch.Generator().manual_seed(rank)
    logged = 0
    for step in range(1, steps + 1):
        x = torch.randn(24, 12, generator=g)
        loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if report.due(step):
            if rank > 0:
                box.post("loss", logged, loss.item())
                logged += 1
            else:
                values = [loss.item(), *box.collect("loss", step // report.every, range(1, world))]
                print(f"step {step} mean loss {sum(values) / world:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
