"""Measure how many steps fit into a time budget, then keep the weights."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from bench.budget import Budget
from bench.logger import make_logger
from bench.runner import Runner


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 1)))
    logger = make_logger(dist.get_rank())
    runner = Runner(model, Budget(seconds=4.0, min_steps=5), logger)
    runner.run(max_steps=10_000)
    dist.barrier()
    if dist.get_rank() == 0:
        logger.log(f"done after {runner.steps} steps")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
