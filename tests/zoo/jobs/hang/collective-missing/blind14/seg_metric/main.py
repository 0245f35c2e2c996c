import argparse
import json
import logging
import os

import torch.distributed as dist

from engine import Engine


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default="config.json")
    ap.add_argument("--epochs", type=int)
    a = ap.parse_args()
    with open(a.config) as f:
        cfg = json.load(f)
    if a.epochs:
        cfg["epochs"] = a.epochs
    dist.init_process_group("gloo")
    level = logging.INFO if int(os.environ["RANK"]) == 0 else logging.WARNING
    logging.basicConfig(level=level, format="%(asctime)s %(name)s %(message)s")
    Engine(cfg).fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
