import json
import os

import torch
import torch.distributed as dist
from shards import loader_of
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(loader, cfg, device):
    model = DistributedDataParallel(nn.Linear(512, 10).to(device), device_ids=[device])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(cfg["epochs"]):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x.to(device)), y.to(device)).backward()
            optimizer.step()


if __name__ == "__main__":
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    cfg = json.load(open("cfg.json"))
    train(loader_of(cfg, is_train=True), cfg, local)
    with torch.no_grad():
        print(sum(len(y) for _, y in loader_of(cfg, is_train=False)))
