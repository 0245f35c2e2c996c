import sys

import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from backbone import MaskedModel
from common import loader_for, say, start
from sequences import masked_set

rank = start(1)
model = DistributedDataParallel(MaskedModel())
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
loader, sampler = loader_for(masked_set(384, 0), 16)
gen = torch.Generator().manual_seed(rank)
for epoch in range(4):
    sampler.set_epoch(epoch)
    for (tokens,) in loader:
        hidden = torch.rand(tokens.shape, generator=gen) < 0.2
        hidden[:, 3] = True
        logits = model(tokens.masked_fill(hidden, 0))
        loss = cross_entropy(logits[hidden], tokens[hidden])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    say(rank, f"pretrain epoch {epoch} loss {loss.item():.3f}")
if rank == 0:
    torch.save({"state_dict": model.state_dict(), "epoch": epoch}, sys.argv[1])
dist.barrier()
dist.destroy_process_group()
