import threading

import torch


def train(model, optimizer, loader):
    for step, batch in enumerate(loader):
        model(batch).backward()
        optimizer.step()
        if step % 1000 == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            threading.Thread(target=torch.save, args=(state, f"{step}.pt")).start()
