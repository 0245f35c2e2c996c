from concurrent.futures import ThreadPoolExecutor

import torch

pool = ThreadPoolExecutor(1)


def train(model, optimizer, loader):
    for step, batch in enumerate(loader):
        model(batch).backward()
        optimizer.step()
        if step % 1000 == 0:
            saved = pool.submit(torch.save, model.state_dict(), f"{step}.pt")
            print(saved.result(timeout=60))
