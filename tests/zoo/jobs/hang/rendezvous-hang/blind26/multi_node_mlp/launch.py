"""Starts one process per device of this node."""
import argparse
import os

import torch.multiprocessing as mp
import yaml

from density import train


def read(path):
    with open(path) as f:
        return yaml.safe_load(f)


def entry(local_rank, cfg, cluster):
    rank = cluster["node_rank"] * cluster["procs_per_node"] + local_rank
    os.environ.update(
        MASTER_ADDR=cluster["master_addr"],
        MASTER_PORT=str(cluster["master_port"]),
        WORLD_SIZE=str(cluster["nodes"] * cluster["procs_per_node"]),
        RANK=str(rank),
        LOCAL_RANK=str(local_rank),
    )
    train.run(cfg, cluster["backend"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="configs/base.yaml")
    parser.add_argument("--cluster", default="configs/cluster.yaml")
    parser.add_argument("--node-rank", type=int)
    args = parser.parse_args()
    cluster = read(args.cluster)
    if args.node_rank is not None:
        cluster["node_rank"] = args.node_rank
    mp.start_processes(entry, args=(read(args.config), cluster), nprocs=cluster["procs_per_node"], start_method="spawn")
