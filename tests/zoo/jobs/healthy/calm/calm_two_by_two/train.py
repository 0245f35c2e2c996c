import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh


class Expert:
    def __init__(self, name, group):
        torch.manual_seed(0)
        self.name, self.group = name, group
        self.net = nn.Linear(6, 6)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05)

    def fit(self, steps, seconds):
        for _ in range(steps):
            time.sleep(seconds)
            loss = (self.net(torch.randn(8, 6)) - 1).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            for p in self.net.parameters():
                dist.all_reduce(p.grad, group=self.group)
                p.grad /= 2
            self.optimizer.step()
        print(f"rank {dist.get_rank()} expert {self.name} loss {loss.item():.4f}", flush=True)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("expert", "data"))
    mine = mesh.get_local_rank("expert")
    expert = Expert("ab"[mine], mesh.get_group("data"))
    if mine == 0:
        expert.fit(100, 0.2)
    else:
        expert.fit(5, 0.0)
    dist.barrier()
    total = sum(p.sum() for p in expert.net.parameters()).detach()
    dist.all_reduce(total)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
