import argparse

import torch
import torch.distributed as dist
from torch import nn

BUDGET = 1 << 20


class BudgetError(RuntimeError):
    pass


def check(batch, width):
    need = batch * width * 4 * 2
    if need > BUDGET:
        raise BudgetError(f"activations need {need} bytes, the budget is {BUDGET}")


parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, required=True)
args = parser.parse_args()
dist.init_process_group("gloo")
check(args.batch, 256)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(60):
    x = torch.randn(args.batch, 16)
    loss = nn.functional.mse_loss(model(x), x.norm(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
if dist.get_rank() == 0:
    print("loss", loss.item())
dist.destroy_process_group()
