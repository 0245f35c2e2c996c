import argparse
import os
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from curriculum import Curriculum
from store import Store

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--batch", type=int, default=16)


class LM(nn.Module):
    def __init__(self, vocab=500, dim=64):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(vocab, dim), nn.GRU(dim, dim, batch_first=True), nn.Linear(dim, vocab)

    def forward(self, ids):
        h, _ = self.rnn(self.emb(ids))
        return self.out(h)


def main():
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    path = os.path.join(tempfile.gettempdir(), f"tokens-{os.environ['TORCHELASTIC_RUN_ID']}.bin")
    plan = Curriculum(path)
    if rank == 0:
        plan.create()
    dist.barrier()
    store = Store(path, plan.length)
    torch.manual_seed(0)
    model = DDP(LM())
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    rng = np.random.default_rng(10 + rank)
    for epoch in range(args.epochs):
        if rank == 0:
            plan.refresh(store, epoch)
        dist.barrier()
        for _ in range(args.steps):
            picks = rng.integers(0, len(store), args.batch)
            ids = torch.from_numpy(np.stack([store.row(i) for i in picks]))
            logits = model(ids[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} rows {len(store)} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
