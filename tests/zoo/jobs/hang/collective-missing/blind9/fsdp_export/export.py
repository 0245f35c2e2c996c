import torch
import torch.distributed as dist


def to_plain(model):
    out = {}
    for name, value in model.state_dict().items():
        out[name] = value.full_tensor().cpu() if hasattr(value, "full_tensor") else value.cpu()
    return out


class BestKeeper:
    def __init__(self, path):
        self.path, self.best = path, float("inf")

    def update(self, model, loss):
        dist.barrier()
        if loss >= self.best:
            return False
        self.best = loss
        if dist.get_rank() == 0:
            torch.save(to_plain(model), self.path)
        dist.barrier()
        return True
