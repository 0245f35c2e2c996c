import argparse
import logging

import torch.distributed as dist
import yaml

from trainer import Trainer


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--config", required=True)
    p.add_argument("--segment-epochs", type=int, default=8)
    args = p.parse_args()
    with open(args.config) as f:
        config = yaml.safe_load(f)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    dist.init_process_group("gloo")
    Trainer(config).train(args.segment_epochs)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
