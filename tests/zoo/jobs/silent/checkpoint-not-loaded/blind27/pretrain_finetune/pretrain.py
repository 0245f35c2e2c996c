import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from nets import MaskedModel
from signals import sample

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--mask", type=float, default=0.4)
parser.add_argument("--out", default="ckpt/pretrain.pth")
args = parser.parse_args()

dist.init_process_group("gloo")
torch.set_num_threads(1)
torch.manual_seed(0)
rank = dist.get_rank()
data = TensorDataset(sample(6000, seed=1)[0])
sampler = DistributedSampler(data)
loader = DataLoader(data, 64, sampler=sampler, drop_last=True)
model = DDP(MaskedModel())
optimizer = torch.optim.AdamW(model.parameters(), 2e-3)
torch.manual_seed(100 + rank)
for epoch in range(args.epochs):
    sampler.set_epoch(epoch)
    total = 0.0
    for (x,) in loader:
        hide = torch.rand_like(x) < args.mask
        pred = model(x.masked_fill(hide, 0.0))
        loss = ((pred - x)[hide] ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if rank == 0:
        print(f"[pretrain] epoch {epoch} loss {total / len(loader):.4f}", flush=True)
if rank == 0:
    torch.save({"epoch": args.epochs, "state_dict": model.state_dict(), "args": vars(args)}, args.out)
dist.barrier()
dist.destroy_process_group()
