import time

import torch.distributed as dist
import torch.distributed.checkpoint as dcp


def main(state):
    dist.init_process_group("gloo")
    folder = "runs/" + str(int(time.time()))
    dcp.save(state, checkpoint_id=folder)


main({})
