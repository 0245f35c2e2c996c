import sys

import torch
import torch.distributed as dist

from net import batch, build

dist.init_process_group("gloo")
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(build())
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(150):
    x, y = batch(2 * step + dist.get_rank())
    loss = torch.nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
if dist.get_rank() == 0:
    torch.save({"state_dict": model.state_dict(), "loss": loss.item()}, sys.argv[1])
    print(f"pretrained, loss {loss.item():.4f}")
dist.destroy_process_group()
