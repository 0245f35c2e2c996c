import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import torch

pool = ThreadPoolExecutor(1)


def train(model, optimizer, loader):
    pending = []
    for step, batch in enumerate(loader):
        model(batch).backward()
        optimizer.step()
        if step % 1000 == 0:
            state = copy.deepcopy(model.state_dict())
            pending.append(pool.submit(torch.save, state, f"{step}.pt"))
            weights = {name: tensor.cpu().clone() for name, tensor in model.state_dict().items()}
            pending.append(pool.submit(torch.save, weights, f"{step}.weights"))
    for one in pending:
        one.result()
