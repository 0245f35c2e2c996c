"""Shards of the rank's own, resampled ones, and a splitter of the project's."""

import os

import torch
import torch.distributed as dist
import webdataset as wds
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def of_rank(urls):
    yield from list(urls)[dist.get_rank() :: dist.get_world_size()]


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
    urls = [f"train-{at:04d}.tar" for at in range(512)]
    mine = urls[dist.get_rank() :: dist.get_world_size()]
    data = wds.WebDataset(mine, nodesplitter=lambda urls: urls, shardshuffle=False).decode().batched(64)
    train(wds.WebLoader(data, batch_size=None, num_workers=4), {"epochs": 3}, local)
    data = wds.WebDataset(urls, resampled=True, nodesplitter=None).decode().batched(64).with_epoch(1000)
    train(wds.WebLoader(data, batch_size=None, num_workers=4), {"epochs": 3}, local)
    data = wds.WebDataset(urls, nodesplitter=of_rank, shardshuffle=False).decode().batched(64)
    train(wds.WebLoader(data, batch_size=None, num_workers=4), {"epochs": 3}, local)
    data = wds.WebDataset(urls, nodesplitter=wds.split_by_node, shardshuffle=False).decode().batched(64)
    train(wds.WebLoader(data, batch_size=None, num_workers=4), {"epochs": 3}, local)
    data = wds.WebDataset(urls).decode().batched(64)  # raises where there are several ranks
    train(wds.WebLoader(data, batch_size=None, num_workers=4), {"epochs": 3}, local)
    data = wds.DataPipeline(wds.ResampledShards(urls), wds.tarfile_to_samples(), wds.decode(), wds.batched(64))
    train(wds.WebLoader(data, batch_size=None, num_workers=4).with_epoch(1000), {"epochs": 3}, local)
    data = wds.DataPipeline(wds.SimpleShardList(urls), of_rank, wds.split_by_worker, wds.tarfile_to_samples())
    train(wds.WebLoader(data, batch_size=None, num_workers=4), {"epochs": 3}, local)
