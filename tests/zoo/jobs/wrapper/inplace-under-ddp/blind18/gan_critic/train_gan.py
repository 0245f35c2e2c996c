import json
import logging
import sys

import torch
import torch.distributed as dist

from gan import Gan

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    cfg = json.load(open(sys.argv[1]))
    dist.init_process_group("gloo")
    torch.manual_seed(cfg["seed"])
    gan = Gan(cfg)
    for s in range(cfg["steps"]):
        d, g = gan.step(s)
        if s % 20 == 0 and dist.get_rank() == 0:
            logging.info("step %d d %.3f g %.3f", s, d, g)
    dist.destroy_process_group()
