from collections import deque

import torch


class HardBatchMiner:
    """Keeps what was hard lately and hands it out again for a second look."""

    def __init__(self, capacity, hardest, start_after):
        self.bank = deque(maxlen=capacity)
        self.losses = deque(maxlen=12)
        self.hardest, self.start_after = hardest, start_after
        self.seen = 0

    def observe(self, batch, loss):
        self.seen += 1
        self.losses.append(loss)
        if self.seen <= self.start_after:
            return
        limit = torch.tensor(list(self.losses)).quantile(1 - self.hardest).item()
        if loss >= limit:
            self.bank.append((loss, batch))

    def replay(self, g):
        if len(self.bank) < 20:
            return None
        k = int(torch.randint(0, len(self.bank), (1,), generator=g))
        return self.bank[k][1]
