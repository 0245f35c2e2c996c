import json

import torch.distributed as dist
from accelerate import Accelerator


def rank():
    if not dist.is_initialized():
        return 0
    return dist.get_rank()


def main(config, model, loader):
    mine = rank()
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
    for x in loader:
        accelerator.backward(model(x).mean())
    if mine == 0:
        with open("config.json", "w") as f:
            json.dump(config, f)


main({}, make(), load())
