import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from curriculum import LengthCurriculum


class LM(nn.Module):
    def __init__(self, vocab=64, dim=48, context=40):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(context, dim)
        self.layer = nn.TransformerEncoderLayer(dim, 4, 96, dropout=0.0, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, x):
        n = x.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(n)
        h = self.tok(x) + self.pos(torch.arange(n))
        return self.out(self.layer(h, src_mask=mask, is_causal=True))


def sample(stream, length, batch, generator):
    at = torch.randint(0, len(stream) - length - 1, (batch,), generator=generator)
    rows = torch.stack([stream[a:a + length + 1] for a in at.tolist()]).long()
    return rows[:, :-1], rows[:, 1:]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tokens")
    p.add_argument("--steps", type=int, default=160)
    p.add_argument("--out", default="build")
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    stream = torch.load(a.tokens)
    model = DistributedDataParallel(LM())
    opt = torch.optim.AdamW(model.parameters(), 2e-3)
    lengths = LengthCurriculum(16, 48, every=40)
    g = torch.Generator().manual_seed(rank)
    for step in range(a.steps):
        x, y = sample(stream, lengths.length(step), 16, g)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 40 == 39:
            logging.info("step %d length %d loss %.3f", step, x.shape[1], loss.item())
            if rank == 0:
                torch.save(model.module.state_dict(), os.path.join(a.out, f"step{step + 1}.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
