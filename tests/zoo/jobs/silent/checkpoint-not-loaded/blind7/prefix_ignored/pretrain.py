import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import TensorDataset

from common import Encoder, factors, loader_of, setup

parser = argparse.ArgumentParser()
parser.add_argument("--out", required=True)
args = parser.parse_args()

rank = setup()
x, z = factors(1024, 0)
loader = loader_of(TensorDataset(x, z), 16)
model = DistributedDataParallel(Encoder().with_head(4))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    loader.sampler.set_epoch(epoch)
    for x, z in loader:
        loss = torch.nn.functional.mse_loss(model(x), z)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print(f"pretrain epoch {epoch} loss {loss.item():.4f}", flush=True)
if rank == 0:
    torch.save({"model": model.state_dict(), "epoch": epoch}, args.out)
dist.barrier()
dist.destroy_process_group()
