import json
import os
from datetime import timedelta

import torch.distributed as dist


def load_cluster(path="cluster.json"):
    with open(path) as f:
        return json.load(f)


def initialize_distributed(cluster):
    world_size = cluster["gpus_per_node"] * cluster["nodes"]
    rank = int(os.environ["RANK"])
    dist.init_process_group(
        "gloo",
        init_method="tcp://%s:%s" % (os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"]),
        world_size=world_size,
        rank=rank,
        timeout=timedelta(seconds=cluster["init_timeout_s"]),
    )
    return rank, world_size
