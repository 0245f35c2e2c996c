import datetime
import pathlib

import torch.distributed as dist


def folder(root):
    name = datetime.datetime.now().strftime("%m%d-%H%M%S")
    dist.broadcast_object_list([name], src=0)
    return pathlib.Path(root) / name


def settings(path):
    config, seed = load(path), fresh_seed()
    dist.broadcast_object_list([config, seed], 0)
    return build(config, seed)
