import logging
import os

import torch.distributed as dist

from swiftlite.arguments import get_args
from swiftlite.trainer import Trainer


def main():
    args = get_args()
    logging.basicConfig(level=logging.INFO, format=f"[INFO:swift] rank {os.environ['RANK']} %(message)s")
    dist.init_process_group("gloo", timeout=args.timeout)
    Trainer(args).train()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
