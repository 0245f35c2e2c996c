import torch


class Dialogs:
    def __init__(self, rank, world, n, batch, seed):
        g = torch.Generator().manual_seed(seed)
        lengths = torch.randint(20, 60, (n,), generator=g)
        lengths[n // 2::7] = 6
        tail = lengths[-batch * world:]
        tail[1::2] = tail[1::2].clamp(max=9)
        self.lengths = lengths[rank::world]
        self.batch = batch
        self.gen = torch.Generator().manual_seed(seed + rank)

    def __iter__(self):
        for ls in self.lengths.split(self.batch):
            x = torch.randint(2, 128, (len(ls), 60), generator=self.gen)
            yield x, ls
