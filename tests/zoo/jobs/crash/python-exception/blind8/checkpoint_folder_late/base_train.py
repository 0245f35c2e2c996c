import os
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from checkpoint_manager import save_checkpoint
from tokenizer import Tokenizer


class NextToken(torch.nn.Module):
    def __init__(self, vocab, width=24):
        super().__init__()
        self.emb = torch.nn.Embedding(vocab, width)
        self.gru = torch.nn.GRU(width, width, batch_first=True)
        self.head = torch.nn.Linear(width, vocab)

    def forward(self, ids):
        return self.head(self.gru(self.emb(ids))[0])


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    tokenizer = Tokenizer("abcdefghijklmnopqrstuvwxyz ")
    model = DDP(NextToken(len(tokenizer)))
    optim = torch.optim.AdamW(model.parameters(), lr=5e-3)
    gen = torch.Generator().manual_seed(7 + rank)
    for step in range(60):
        start = torch.randint(0, len(tokenizer), (8, 1), generator=gen)
        ids = (start + torch.arange(13)) % len(tokenizer)
        loss = torch.nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optim.zero_grad()
        loss.backward()
        optim.step()
        if rank == 0 and step % 20 == 0:
            print(f"step {step:03d} loss {loss.item():.4f}", flush=True)
    run = os.environ.get("TORCHELASTIC_RUN_ID", "none") + str(os.getppid())
    folder = Path(tempfile.gettempdir()) / "base_checkpoints" / run
    save_checkpoint(folder, 60, model.module, optim, tokenizer, rank)
    dist.barrier()
    if rank == 0:
        print("saved", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
