import torch
import torch.distributed as dist


class DeferredStats:
    def __init__(self, names, device):
        self.names = list(names)
        self.local = torch.zeros(len(self.names) + 1, dtype=torch.float64, device=device)
        self._sent = None
        self._work = None

    def add(self, n, **values):
        row = torch.tensor([float(values[k]) * n for k in self.names] + [n], dtype=torch.float64)
        self.local += row.to(self.local.device)

    def launch(self):
        self._sent = self.local.clone()
        self.local.zero_()
        self._work = dist.all_reduce(self._sent, async_op=True)

    def collect(self):
        if self._work is None:
            return None
        self._work.wait()
        total = self._sent.tolist()
        self._work = self._sent = None
        return {k: v / max(total[-1], 1.0) for k, v in zip(self.names, total)}
