import logging
import sys
import time

import torch
import torch.distributed as dist
import yaml

from surrogate.latents import LatentPairs
from surrogate.operator import ResidualStep
from surrogate.trainer import Trainer


def main(config_path):
    with open(config_path) as f:
        cfg = yaml.safe_load(f)
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"rank{dist.get_rank()} %(levelname)s %(message)s")
    torch.manual_seed(0)
    dataset = LatentPairs(cfg["cache"], dist.get_rank(), dist.get_world_size())
    trainer = Trainer(cfg, ResidualStep(cfg["latent_dim"], cfg["hidden"]), dataset)
    dist.barrier()
    trainer.run()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "configs/burgers.yaml")
