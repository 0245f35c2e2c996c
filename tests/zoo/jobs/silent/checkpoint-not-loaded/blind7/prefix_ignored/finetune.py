import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import TensorDataset

from common import Encoder, factors, load_weights, loader_of, setup

parser = argparse.ArgumentParser()
parser.add_argument("--weights", required=True)
args = parser.parse_args()

rank = setup()
torch.manual_seed(123)
model = Encoder()
loaded = load_weights(model, args.weights)
if rank == 0:
    print(f"=> loaded {loaded} tensors from {args.weights}", flush=True)
model.with_head(2)
model.backbone.requires_grad_(False)
model = DistributedDataParallel(model)
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)

x, z = factors(512, 1)
loader = loader_of(TensorDataset(x, (z[:, 0] + z[:, 1] > 0).long()), 16)
for epoch in range(3):
    loader.sampler.set_epoch(epoch)
    hits = 0
    for x, y in loader:
        logits = model(x)
        loss = torch.nn.functional.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits += (logits.argmax(1) == y).sum().item()
    if rank == 0:
        print(f"finetune epoch {epoch} loss {loss.item():.4f} acc {hits / 256:.3f}", flush=True)
if rank == 0:
    torch.save(model.module.state_dict(), "finetuned.pt")
dist.barrier()
dist.destroy_process_group()
