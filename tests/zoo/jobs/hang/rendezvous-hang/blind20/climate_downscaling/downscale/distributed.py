import os
import socket
from datetime import timedelta

import torch.distributed as dist


def free_port():
    with socket.socket() as s:
        s.bind(("", 0))
        return s.getsockname()[1]


def resolve_port(options):
    if options["port"] == "auto":
        return free_port()
    return int(options["port"])


def init(options):
    if "MASTER_PORT" not in os.environ:
        os.environ["MASTER_PORT"] = str(resolve_port(options))
    dist.init_process_group(options["backend"], timeout=timedelta(minutes=options["timeout_minutes"]))
    return dist.get_rank(), dist.get_world_size()
