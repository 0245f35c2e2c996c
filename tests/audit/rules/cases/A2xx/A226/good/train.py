import time

import torch
import torch.distributed as dist


def epoch(model, loader, optimizer, every, rank):
    for step, (x, y) in enumerate(loader):
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        if step % every == 0:
            if rank == 0:
                torch.save(model.state_dict(), "last.pt")
            dist.barrier()
    dist.barrier()


def train(model, loader, optimizer, epochs, rank):
    for _ in range(epochs):
        epoch(model, loader, optimizer, 100, rank)
        dist.barrier()
        for x, y in loader:
            model(x, y)
            dist.barrier()


def timed(model, loader, optimizer):
    for x, y in loader:
        dist.barrier()
        begun = time.perf_counter()
        model(x, y).backward()
        optimizer.step()
        print(time.perf_counter() - begun)


def shared_file(model, loader, optimizer, rank):
    for x, y in loader:
        model(x, y).backward()
        optimizer.step()
        if rank == 0:
            torch.save(model.state_dict(), "live.pt")
        dist.barrier()
        torch.load("live.pt")


def one_after_the_other(loader, optimizer, model):
    for x, y in loader:
        model(x, y).backward()
        optimizer.step()
        for turn in range(dist.get_world_size()):
            if turn == dist.get_rank():
                print(turn)
            dist.barrier()
