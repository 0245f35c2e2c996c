import torch
import torch.distributed as dist


class Federation:
    """Weighted averaging between sites of all that is not private to a site."""

    def __init__(self, model, private, weight):
        self.shared = [p for n, p in model.named_parameters() if n.split(".")[0] not in private]
        total = torch.tensor(float(weight))
        dist.all_reduce(total)
        self.weight = weight / total.item()

    @torch.no_grad()
    def begin(self):
        for p in self.shared:
            dist.broadcast(p, src=0)

    @torch.no_grad()
    def aggregate(self):
        flat = torch.cat([p.flatten() for p in self.shared]) * self.weight
        dist.all_reduce(flat)
        offset = 0
        for p in self.shared:
            p.copy_(flat[offset: offset + p.numel()].view_as(p))
            offset += p.numel()
