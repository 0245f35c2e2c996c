from datetime import datetime

import torch.distributed as dist
import torch.distributed.checkpoint as dcp


def main(state):
    dist.init_process_group("gloo")
    name = [f"runs/{datetime.now():%Y%m%d-%H%M%S}"]
    dist.broadcast_object_list(name, src=0)
    dcp.save(state, checkpoint_id=name[0])


main({})
