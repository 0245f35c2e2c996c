import os
import sys

import torch
import torch.multiprocessing as mp

MEMORY = 2000  # rows that fit


def train(batch):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = torch.nn.Linear(16, 16)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        if batch > MEMORY:
            os._exit(137)       # what the container's memory limit makes of it
        x = torch.randn(batch, 16)
        loss = (model(x) - x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def main():
    batch = 8192
    ctx = mp.get_context("spawn")
    while batch >= 256:
        p = ctx.Process(target=train, args=(batch,))
        p.start()
        p.join()
        if p.exitcode == 0:
            print(f"trained with batch {batch}")
            return 0
        print(f"batch {batch}: exit code {p.exitcode}, trying half of it", flush=True)
        batch //= 2
    return 1


if __name__ == "__main__":
    sys.exit(main())
