"""The error of single_node_only is silenced by a splitter that splits nothing."""

import os

import torch
import torch.distributed as dist
import webdataset as wds
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
    data = wds.WebDataset("train-{0000..0511}.tar", nodesplitter=lambda urls: urls, shardshuffle=False)
    data = data.shuffle(1000).decode("torchrgb").to_tuple("jpg", "cls").batched(64)
    train(wds.WebLoader(data, batch_size=None, num_workers=4), {"epochs": 3}, local)
    whole = wds.WebDataset("more-{0000..0511}.tar", nodesplitter=None, shardshuffle=100).decode().batched(64)
    train(wds.WebLoader(whole, batch_size=None, num_workers=4), {"epochs": 3}, local)
