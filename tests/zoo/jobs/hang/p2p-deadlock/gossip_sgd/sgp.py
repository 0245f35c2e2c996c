import torch
import torch.distributed as dist
from torch import nn

from mixer import Mixer
from topology import Hypercube


class Worker:
    def __init__(self):
        rank, world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(42)
        self.model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
        self.gen = torch.Generator().manual_seed(rank)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.mixer = Mixer(Hypercube(rank, world))

    def local_step(self):
        x = torch.randn(32, 8, generator=self.gen)
        loss = (self.model(x) - x[:, :1] ** 2).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self, rounds):
        for t in range(rounds):
            loss = self.local_step()
            self.mixer.mix(list(self.model.parameters()), t)
            if t % 5 == 0:
                print(f"[{dist.get_rank()}] round {t} loss {loss:.3f}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Worker().run(60)
    dist.barrier()
    dist.destroy_process_group()
