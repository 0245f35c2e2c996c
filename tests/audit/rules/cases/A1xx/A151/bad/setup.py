"""Sets up the group."""

from __future__ import annotations

import torch.distributed as dist


def setup(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)


def plain():
    dist.init_process_group()


def on_lines(url):
    dist.init_process_group(
        backend="nccl",
        init_method=url,  # the file store
    )
