import os

import torch.distributed as dist


def setup(rank, world, port):
    os.environ.setdefault("MASTER_PORT", "29500")
    if "MASTER_PORT" not in os.environ:
        os.environ["MASTER_PORT"] = "29500"
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
