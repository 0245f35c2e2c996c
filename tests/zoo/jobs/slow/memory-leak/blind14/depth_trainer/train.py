import argparse
import logging

import torch.distributed as dist

from settings import Settings
from trainer import DepthTrainer


def main():
    p = argparse.ArgumentParser()
    for k, v in vars(Settings()).items():
        p.add_argument("--" + k.replace("_", "-"), type=type(v), default=v)
    s = Settings(**vars(p.parse_args()))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    dist.init_process_group("gloo")
    DepthTrainer(s).fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
