import logging

import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset

from ocr.lines import ALPHABET, LineImages, make_texts
from ocr.metrics import CharacterErrorRate
from ocr.monitor import monitored
from ocr.reader import LineReader


def part(dataset, rank, world):
    size = len(dataset) // world
    return Subset(dataset, range(rank * size, (rank + 1) * size))


@torch.no_grad()
def evaluate(model, loader):
    metric = CharacterErrorRate()
    for images, targets in loader:
        metric.update(model(images).argmax(-1), targets)
    rate = torch.tensor([metric.value()])
    dist.all_reduce(rate)
    return rate.item() / dist.get_world_size()


@monitored("training")
def train(cfg):
    rank, world = dist.get_rank(), dist.get_world_size()
    train_set = part(LineImages(make_texts(cfg["train_lines"], cfg["seed"]), cfg["seed"]), rank, world)
    val_texts = make_texts(cfg["val_lines"], cfg["seed"] + 1, blank_from=cfg["val_written"])
    val_set = part(LineImages(val_texts, cfg["seed"] + 1), rank, world)
    loader = DataLoader(train_set, cfg["batch_size"], shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, cfg["batch_size"])
    torch.manual_seed(cfg["seed"])
    model = DDP(LineReader(len(ALPHABET), cfg["width"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    best = 1.0
    for epoch in range(cfg["epochs"]):
        for images, targets in loader:
            loss = F.cross_entropy(model(images).flatten(0, 1), targets.flatten(), ignore_index=-100)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        logging.info("epoch %d loss %.4f", epoch, loss.item())
        if (epoch + 1) % cfg["eval_every"] == 0:
            rate = evaluate(model.module, val_loader)
            if rank == 0 and rate < best:
                best = rate
                torch.save(model.module.state_dict(), cfg["output"])
    return best
