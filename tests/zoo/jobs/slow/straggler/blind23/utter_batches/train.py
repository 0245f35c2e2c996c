import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from batching import BucketPlan
from speech import Utterances, pad


class SpeakerNet(nn.Module):
    def __init__(self, mels=20, hidden=96, speakers=6):
        super().__init__()
        self.rnn = nn.GRU(mels, hidden, batch_first=True)
        self.out = nn.Linear(hidden, speakers)

    def forward(self, x, lengths):
        h, _ = self.rnn(x)
        mask = (torch.arange(x.shape[1]) < lengths[:, None]).unsqueeze(-1)
        return self.out((h * mask).sum(1) / lengths[:, None])


def main(epochs=4, batch_size=16):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    data = Utterances(1600, 1)
    plan = BucketPlan(data.lengths, batch_size, rank, world, seed=4)
    loader = DataLoader(data, batch_sampler=plan, collate_fn=pad)
    model = DDP(SpeakerNet())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        plan.set_epoch(epoch)
        start, frames, total = time.perf_counter(), 0, 0.0
        for x, lengths, y in loader:
            loss = F.cross_entropy(model(x, lengths), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            frames += int(lengths.sum())
            total += loss.item()
        took = time.perf_counter() - start
        if rank == 0:
            print(f"epoch {epoch}: loss {total / len(loader):.3f}, {len(loader)} steps, {took:.1f} s", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
