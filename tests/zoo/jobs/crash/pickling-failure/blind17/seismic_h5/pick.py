import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

import volume
from conf import DEFAULTS as C


def loader(data, workers, shuffle):
    extra = {"multiprocessing_context": C["start_method"]} if workers else {}
    return DataLoader(data, C["batch"], shuffle=shuffle, num_workers=workers, **extra)


class Picker(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.register_buffer("scale", torch.tensor(scale))
        self.net = nn.Sequential(nn.Conv1d(1, 16, 7, 2), nn.ReLU(), nn.AdaptiveAvgPool1d(12), nn.Flatten(), nn.Linear(192, 1))

    def forward(self, x):
        return self.net((x / self.scale)[:, None]).squeeze(-1)


def evaluate(model, part):
    total = torch.zeros(2)
    model.eval()
    with torch.no_grad():
        for x, y in part:
            total += torch.tensor([(model.module(x) - y).abs().sum(), len(y)])
    model.train()
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"{rank}: %(message)s")
    if rank == 0 and not os.path.exists(C["volume"]):
        volume.write(C["volume"], C["traces"], C["samples"])
    dist.barrier()
    train, valid = (volume.Traces(C["volume"], p, rank, world) for p in ("train", "valid"))
    batches, held_out = loader(train, C["train_workers"], True), loader(valid, C["valid_workers"], False)
    torch.manual_seed(0)
    model = DDP(Picker(train.scale()))
    logging.info("amplitudes: train %.3f valid %.3f", train.scale(), valid.scale())
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    for epoch in range(C["epochs"]):
        for x, y in batches:
            loss = (model(x) - y).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        err = evaluate(model, held_out)
        logging.info("epoch %d loss %.4f valid %.4f", epoch, loss.item(), err)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
