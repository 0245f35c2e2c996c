import random

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from batching import batches, corpus, mine, pad


class Tagger(nn.Module):
    def __init__(self, dim=96):
        super().__init__()
        self.emb = nn.Embedding(300, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, dim, num_layers=2, batch_first=True)
        self.out = nn.Linear(dim, 10)

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])


def main(epochs=3, size=12):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DDP(Tagger())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    groups = mine(batches(corpus(), size), rank, world)
    for epoch in range(epochs):
        random.Random(epoch).shuffle(groups)
        for rows in groups:
            ids = pad(rows)
            labels = torch.where(ids > 0, ids % 10, -100)
            loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=-100)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
