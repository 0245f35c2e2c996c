import argparse

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int)
args = parser.parse_args()
dist.init_process_group("gloo")
rank = dist.get_rank()
table = torch.nn.Embedding(50, 8)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(table, torch.nn.Linear(8, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(args.steps):
    ids = torch.arange(step, step + 8) + 8 * rank
    loss = model(ids).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
