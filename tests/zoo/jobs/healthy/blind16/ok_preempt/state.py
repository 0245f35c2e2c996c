import os

import torch
import torch.distributed as dist


def save(path, net, opt, step):
    if dist.get_rank() == 0:
        torch.save({"net": net.module.state_dict(), "opt": opt.state_dict(), "step": step}, path + ".tmp")
        os.replace(path + ".tmp", path)
    dist.barrier()


def load(path, net, opt):
    if not os.path.exists(path):
        return 0
    doc = torch.load(path)
    net.module.load_state_dict(doc["net"])
    opt.load_state_dict(doc["opt"])
    return doc["step"]
