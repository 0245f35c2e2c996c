import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

MICRO, WIDTH = 6, 16
SECONDS = (0.05, 1.2, 0.05)  # of the stages' forward


class Stage:
    def __init__(self, rank, world):
        torch.manual_seed(rank)
        self.rank, self.before, self.after = rank, rank - 1, (rank + 1) % world
        self.last = rank == world - 1
        self.net = nn.Linear(WIDTH, WIDTH)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01)

    def forward(self, step):
        """Returns (input, output) of each micro-batch; sends are not waited for before the next one."""
        kept, sends = [], []
        receives = [torch.empty(8, WIDTH) for _ in range(MICRO)]
        pending = [] if self.rank == 0 else [dist.irecv(x, self.before) for x in receives]
        for m in range(MICRO):
            if self.rank == 0:
                receives[m] = torch.randn(8, WIDTH)
            else:
                pending[m].wait()
            x = receives[m].requires_grad_()
            time.sleep(SECONDS[self.rank])
            y = torch.tanh(self.net(x))
            kept.append((x, y))
            if not self.last:
                sends.append(dist.isend(y.detach(), self.after))
        for send in sends:
            send.wait()
        return kept

    def backward(self, kept):
        sends = []
        for x, y in reversed(kept):
            if self.last:
                y.square().mean().backward()
            else:
                grad = torch.empty_like(y)
                dist.irecv(grad, self.after).wait()
                y.backward(grad)
            if self.rank:
                sends.append(dist.isend(x.grad, self.before))
        for send in sends:
            send.wait()
        self.optimizer.step()
        self.optimizer.zero_grad()


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    stage = Stage(dist.get_rank(), dist.get_world_size())
    for step in range(3):
        stage.backward(stage.forward(step))
        if stage.last:
            print(f"step {step} done", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
