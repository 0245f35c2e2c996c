import os
import socket
from contextlib import closing
from datetime import timedelta

import torch.distributed as dist


def find_free_port():
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as s:
        s.bind(("", 0))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return str(s.getsockname()[1])


def setup_process(rank, world_size, backend="gloo"):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = find_free_port()
    print(f"setting up rank={rank} (with world_size={world_size})", flush=True)
    dist.init_process_group(backend, rank=rank, world_size=world_size, timeout=timedelta(seconds=10))


def cleanup():
    dist.destroy_process_group()
