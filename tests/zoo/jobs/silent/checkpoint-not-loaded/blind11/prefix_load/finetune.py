import sys

import torch
import torch.distributed as dist

from net import batch, build


def load(model, path):
    state = torch.load(path, weights_only=True)["state_dict"]
    model.load_state_dict(state, strict=False)
    return model


dist.init_process_group("gloo")
torch.manual_seed(1)
model = torch.nn.parallel.DistributedDataParallel(load(build(), sys.argv[1]))
optimizer = torch.optim.Adam(model.module[-1].parameters(), lr=1e-3)
for step in range(60):
    x, y = batch(5000 + 2 * step + dist.get_rank())
    loss = torch.nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
if dist.get_rank() == 0:
    print(f"fine-tuned, loss {loss.item():.4f}")
dist.destroy_process_group()
