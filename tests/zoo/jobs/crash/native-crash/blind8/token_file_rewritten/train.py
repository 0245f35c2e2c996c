import math
import tempfile
from contextlib import nullcontext
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from prepare import deduplicate, tokenize
from sample import Stream

block_size = 32
batch_size = 16
max_iters = 400
dedup_interval = 150
vocab = 512


class Bigram(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = torch.nn.Embedding(vocab, 32)
        self.head = torch.nn.Linear(32, vocab)

    def forward(self, idx, targets):
        logits = self.head(self.wte(idx))
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


dist.init_process_group("gloo")
ddp_rank, world = dist.get_rank(), dist.get_world_size()
master_process = ddp_rank == 0
box = [tempfile.mkdtemp(prefix="tokens-") if master_process else None]
dist.broadcast_object_list(box, src=0)
data_dir = Path(box[0])
if master_process:
    for shard in range(world):
        tokenize(data_dir / f"train_{shard}.bin", seed=shard)
dist.barrier()

torch.manual_seed(1337)
model = DDP(Bigram())
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
stream = Stream(data_dir / f"train_{ddp_rank}.bin", block_size, batch_size, seed=ddp_rank)

for iter_num in range(max_iters):
    if iter_num and iter_num % dedup_interval == 0:
        if master_process:
            kept = deduplicate(data_dir / f"train_{world - 1}.bin")
            print(f"iter {iter_num}: last shard has {kept} tokens now", flush=True)
        dist.barrier()
    X, Y = stream.get_batch()
    loss = model(X, Y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if master_process and iter_num % 50 == 0:
        print(f"iter {iter_num}: loss {loss.item():.4f}", flush=True)

dist.destroy_process_group()
