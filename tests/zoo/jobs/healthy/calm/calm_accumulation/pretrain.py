import contextlib
import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

ACCUMULATE = {0: 40, 1: 120}  # rank 1 has short documents: more of them make a batch of as many tokens


def micro_batches(rank, step):
    generator = torch.Generator().manual_seed(1000 * rank + step)
    for _ in range(ACCUMULATE[rank]):
        time.sleep(0.1)  # tokenised on the fly
        yield torch.randint(100, (4, 16), generator=generator)


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=30))
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Embedding(100, 32), nn.Linear(32, 100)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(int(os.environ.get("STEPS", "2"))):
        for i, tokens in enumerate(micro_batches(rank, step), 1):
            last = i == ACCUMULATE[rank]
            with contextlib.nullcontext() if last else model.no_sync():
                logits = model(tokens[:, :-1])
                loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
                (loss / ACCUMULATE[rank]).backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"[{rank}] step {step} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
