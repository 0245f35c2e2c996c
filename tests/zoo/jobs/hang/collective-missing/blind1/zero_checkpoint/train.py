import torch.distributed as dist

from engine import Engine
from utils.dist import print_once, setup

OPTIONS = dict(seed=1, lr=1e-3, batch=16, steps=60, log_every=10, save_every=25, folder=None)

if __name__ == "__main__":
    setup()
    Engine(OPTIONS).train()
    print_once("finished")
    dist.destroy_process_group()
