import os

import torch
import torch.distributed as dist


def latest(folder):
    names = sorted(n for n in os.listdir(folder) if n.endswith(".pt")) if os.path.isdir(folder) else []
    return os.path.join(folder, names[-1]) if names else None


def restore(net, opt, folder):
    box = [None]
    if dist.get_rank() == 0:
        path = latest(folder)
        if path is not None:
            box[0] = torch.load(path, weights_only=True)
    dist.broadcast_object_list(box, src=0)
    if box[0] is None:
        return 0
    net.load_state_dict(box[0]["net"])
    opt.load_state_dict(box[0]["opt"])
    return box[0]["epoch"] + 1


def keep(net, opt, epoch, folder):
    if dist.get_rank() != 0:
        return
    os.makedirs(folder, exist_ok=True)
    torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, os.path.join(folder, f"{epoch:04d}.pt"))
