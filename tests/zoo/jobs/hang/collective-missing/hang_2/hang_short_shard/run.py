import argparse
import time

import torch
import torch.distributed as dist
import yaml
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from engine import Engine
from tables import Shard, mlp


def main(cfg):
    dist.init_process_group(backend="gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(cfg["seed"])
    shard = Shard(cfg["rows"], cfg["features"], rank, world)
    loader = DataLoader(shard, batch_size=cfg["batch_size"], shuffle=True)
    model = DistributedDataParallel(mlp(cfg["features"], cfg["hidden"]))
    engine = Engine(model, torch.optim.SGD(model.parameters(), lr=cfg["lr"]), rank)
    for epoch in range(cfg["epochs"]):
        engine.run_epoch(loader, epoch)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", required=True)
    with open(ap.parse_args().config) as f:
        main(yaml.safe_load(f))
