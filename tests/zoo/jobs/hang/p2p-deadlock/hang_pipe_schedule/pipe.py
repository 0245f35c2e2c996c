import logging
import os
import time

import torch
import torch.distributed as dist

from stage import Stage

logging.basicConfig(level=logging.INFO, format=f"stage {os.environ.get('RANK')}: %(message)s")


def batch_sizes(epoch):
    return [16] * 6 if epoch == 0 else [16] * 4 + [14]


def main():
    dist.init_process_group("gloo")
    stage = Stage(dist.get_rank(), dist.get_world_size(), width=8, micro=4)
    for epoch in range(2):
        for size in batch_sizes(epoch):
            stage.run(size)
        logging.info("epoch %d done", epoch)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
