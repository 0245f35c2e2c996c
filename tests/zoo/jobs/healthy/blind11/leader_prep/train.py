import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn

from cache import open_cache


class LocalOnly:
    """Rank 0 alone looks at samples now and then, through the bare module."""

    def __init__(self, model, every):
        self.model, self.every = model, every

    @torch.no_grad()
    def __call__(self, step, tokens):
        if dist.get_rank() == 0 and step % self.every == 0:
            guess = self.model.module(tokens[:1, :8]).argmax(-1)
            print(f"step {step} sample {guess.tolist()}", flush=True)


def main():
    dist.init_process_group("gloo")
    folder = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(folder, 0)
    tokens = open_cache(os.path.join(folder[0], "tokens.pt"))
    mine = tokens[dist.get_rank()::dist.get_world_size()]
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(40, 12), nn.Linear(12, 40)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    look = LocalOnly(model, 20)
    for step in range(60):
        batch = mine[torch.randint(0, len(mine), (8,))]
        loss = nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        look(step, batch)
    dist.destroy_process_group()


main()
