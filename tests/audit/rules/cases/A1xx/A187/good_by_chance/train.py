"""Each rank has an order of its own and takes some steps of it, as of resampled shards; and one process."""

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
    data = wds.DataPipeline(
        wds.SimpleShardList("train-{0000..0511}.tar"),
        wds.shuffle(512),
        wds.split_by_worker,
        wds.tarfile_to_samples(),
        wds.decode(),
        wds.batched(64),
    )
    train(wds.WebLoader(data, batch_size=None, num_workers=4).repeat().with_epoch(1000), {"epochs": 3}, local)
