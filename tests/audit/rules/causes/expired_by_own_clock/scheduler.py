"""Requests that have waited too long are dropped by each rank's own clock: ranks run batches of other content."""
import time

import torch
import torch.distributed as dist


class Scheduler:
    def __init__(self, model, timeout_s):
        self.model = model
        self.timeout_s = timeout_s
        self.waiting = []

    def add(self, request):
        self.waiting.append((time.perf_counter(), request))

    def _drop_expired(self):
        now = time.perf_counter()
        self.waiting = [one for one in self.waiting if now - one[0] < self.timeout_s]  # cause

    def run_once(self):
        self._drop_expired()
        if not self.waiting:  # cause
            return None
        batch = torch.stack([request for _, request in self.waiting])
        self.waiting.clear()
        out = self.model(batch)
        dist.all_reduce(out)
        return out


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    scheduler = Scheduler(torch.nn.Linear(8, 8).requires_grad_(False), timeout_s=0.5)
    for _ in range(1000):
        request = torch.randn(8)
        dist.broadcast(request, src=0)
        scheduler.add(request)
        scheduler.run_once()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
