import os
from datetime import datetime

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, random_split

import galaxies


def say(rank, text):
    if rank == 0:
        print(f"{datetime.now():%H:%M:%S} {text}", flush=True)


def network(classes):
    return nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(12, 24, 3, padding=1),
                         nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(216, classes))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = torch.zeros(2)
    for image, kind in loader:
        hits += torch.tensor([(model(image).argmax(1) == kind).sum(), len(kind)])
    dist.all_reduce(hits)
    model.train()
    return (hits[0] / hits[1]).item()


def work(local_rank, settings):
    cluster, train = settings["cluster"], settings["train"]
    rank = cluster["node_rank"] * cluster["workers_per_node"] + local_rank
    world = cluster["nodes"] * cluster["workers_per_node"]
    os.environ["MASTER_ADDR"] = cluster["address"]
    os.environ["MASTER_PORT"] = str(cluster["port"])
    torch.set_num_threads(1)
    say(rank, f"joining {world} workers at {cluster['address']}")
    dist.init_process_group(cluster["backend"], rank=rank, world_size=world)

    torch.manual_seed(settings["data"]["seed"])
    data = galaxies.make(**settings["data"])
    fit, held = random_split(data, [0.8, 0.2])
    sampler = DistributedSampler(fit)
    loader = DataLoader(fit, train["batch"], sampler=sampler)
    held_loader = DataLoader(held, train["batch"], sampler=DistributedSampler(held, shuffle=False))
    model = DistributedDataParallel(network(settings["data"]["classes"]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=train["lr"])
    for epoch in range(train["epochs"]):
        sampler.set_epoch(epoch)
        for image, kind in loader:
            loss = nn.functional.cross_entropy(model(image), kind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        say(rank, f"epoch {epoch} loss {loss.item():.3f} accuracy {accuracy(model.module, held_loader):.3f}")
    if rank == 0:
        torch.save(model.module.state_dict(), train["output"])
    dist.destroy_process_group()
