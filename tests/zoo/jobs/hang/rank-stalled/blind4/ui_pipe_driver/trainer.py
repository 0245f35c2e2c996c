import argparse
import json
import logging
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

logger = logging.getLogger("soup")


def setup_logging(rank):
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if rank == 0 else logging.ERROR)


class Adapter(nn.Module):
    """A frozen base with low-rank additions."""

    def __init__(self, width=32, rank=4, layers=6):
        super().__init__()
        self.base = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.base.requires_grad_(False)
        self.down = nn.ModuleList(nn.Linear(width, rank, bias=False) for _ in range(layers))
        self.up = nn.ModuleList(nn.Linear(rank, width, bias=False) for _ in range(layers))

    def forward(self, x):
        for base, down, up in zip(self.base, self.down, self.up):
            x = torch.tanh(base(x) + up(down(x)))
        return x


def describe(model):
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            yield f"{name}={parameter.grad.norm():.3e}"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--config", required=True)
    with open(arguments.parse_args().config) as handle:
        config = json.load(handle)
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    setup_logging(rank)
    torch.manual_seed(0)
    model = DistributedDataParallel(Adapter())
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-3)
    generator = torch.Generator().manual_seed(rank)
    for step in range(config["steps"]):
        loss = model(torch.randn(8, 32, generator=generator)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % config["log_every"] == 0:
            logger.info("step %d loss %.5f grads %s", step, loss.item(), " ".join(describe(model)))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
