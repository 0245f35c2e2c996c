import argparse

import deepspeed
import torch.distributed as dist
import torchvision
from torch import nn


def fetch(root):
    first = not dist.is_initialized() or dist.get_rank() == 0
    if first:
        torchvision.datasets.CIFAR10(root, download=True)
    if dist.is_initialized():
        dist.barrier()


def main():
    parser = deepspeed.add_config_arguments(argparse.ArgumentParser())
    args = parser.parse_args()
    fetch("data")
    net = nn.Linear(3, 3)
    engine, _, _, _ = deepspeed.initialize(args=args, model=net, model_parameters=net.parameters())
    engine.save_checkpoint("out")


if __name__ == "__main__":
    main()
