import torch
import torch.distributed as dist


class SharedStopper:
    def __init__(self, patience, device):
        self.patience, self.device = patience, device
        self.best, self.bad = float("-inf"), 0

    def __call__(self, score):
        verdict = torch.zeros(2, device=self.device)
        if dist.get_rank() == 0:
            if score > self.best:
                self.best, self.bad = score, 0
                verdict[0] = 1
            else:
                self.bad += 1
            verdict[1] = float(self.bad > self.patience)
        dist.broadcast(verdict, src=0)
        return bool(verdict[0].item()), bool(verdict[1].item())
