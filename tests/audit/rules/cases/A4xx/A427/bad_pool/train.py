from concurrent.futures import ThreadPoolExecutor

import torch

pool = ThreadPoolExecutor(1)
pending = []


def write(weights, path):
    torch.save(weights, path)
    print("saved", path)


def keep(model, path):
    pending.append(pool.submit(write, model.state_dict(), path))


def train(model, optimizer, loader):
    for step, batch in enumerate(loader):
        model(batch).backward()
        optimizer.step()
        if step % 100 == 0:
            keep(model, f"{step}.pt")
    for one in pending:
        one.result()
