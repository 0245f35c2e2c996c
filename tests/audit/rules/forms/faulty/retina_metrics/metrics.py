import torch
import torch.distributed as dist


class RunningAccuracy:
    def __init__(self, device):
        self.hits = torch.zeros((), dtype=torch.long, device=device)
        self.seen = 0

    def update(self, logits, labels):
        self.hits += (logits.argmax(-1) == labels).sum()
        self.seen += labels.numel()

    def compute(self):
        hits = self.hits.clone()
        if dist.is_initialized():
            dist.all_reduce(hits, op=dist.ReduceOp.SUM)  # cause
        return hits.item() / max(self.seen, 1)  # cause


class RunningLoss:
    def __init__(self, device):
        self.state = torch.zeros(2, dtype=torch.float64, device=device)

    def update(self, value, n):
        self.state += torch.stack([value.double() * n, torch.tensor(float(n), dtype=torch.float64, device=value.device)])

    def compute(self):
        state = self.state.clone()
        if dist.is_initialized():
            dist.all_reduce(state)
        return (state[0] / state[1]).item()
