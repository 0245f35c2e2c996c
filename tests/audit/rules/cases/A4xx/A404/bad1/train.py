import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main(net, path):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    net = net.cuda()
    if os.path.exists(path):
        state = torch.load(
            path,
            weights_only=True,
        )
        net.load_state_dict(state["net"])
    model = DistributedDataParallel(net)
    if dist.get_rank() == 0:
        torch.save({"net": model.module.state_dict()}, path)
