import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Distiller:
    def __init__(self, temperature):
        torch.manual_seed(0)
        self.teacher = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 10))
        self.student = DDP(nn.Linear(8, 10))
        self.temperature = temperature
        self.optimizer = torch.optim.SGD(self.student.parameters(), lr=0.1)

    def step(self, x):
        with torch.no_grad():
            target = (self.teacher(x) / self.temperature).softmax(-1)
        loss = -(target * self.student(x).log_softmax(-1)).sum(-1).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def prompts(step):
    width = 8 if step < 25 else 9
    return torch.randn(16, width)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-steps", type=int)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    distiller = Distiller(temperature=2.0)
    for step in range(args.max_steps):
        loss = distiller.step(prompts(step))
        if dist.get_rank() == 0 and step % 5 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
