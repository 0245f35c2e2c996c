import json

import torch.distributed as dist


def shared(path):
    box = [None]
    try:
        if dist.get_rank() == 0:
            with open(path) as file:
                box[0] = json.load(file)
        dist.broadcast_object_list(box, src=0)
    except OSError as problem:
        print("no vocabulary:", problem)
        return {}
    return box[0]
