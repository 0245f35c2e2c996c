import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from sft.checkpoints import Keeper
from sft.evaluation import pass_at_1

VOCAB, CONTEXT = 64, 16


class TinyCoder(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, width)
        layer = nn.TransformerEncoderLayer(width, 4, width * 2, batch_first=True, dropout=0.0)
        self.body = nn.TransformerEncoder(layer, 2)
        self.lm = nn.Linear(width, VOCAB)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.size(1))
        return self.lm(self.body(self.tok(ids), mask=mask, is_causal=True))


def batch(rank, step, size=16):
    g = torch.Generator().manual_seed(1000 * step + rank)
    start = torch.randint(0, VOCAB, (size, 1), generator=g)
    return (start + torch.arange(CONTEXT + 1)) % VOCAB


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(TinyCoder())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    keeper = Keeper(tempfile.mkdtemp(prefix="sft-")) if rank == 0 else None
    for step in range(1, 121):
        ids = batch(rank, step)
        logits = model(ids[:, :-1])
        loss = nn.functional.cross_entropy(logits.reshape(-1, VOCAB), ids[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            if rank == 0:
                keeper.save(model.module, step)
                print(f"step {step} loss {loss.item():.3f} pass@1 {pass_at_1(loss.item()):.2f}", flush=True)
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
