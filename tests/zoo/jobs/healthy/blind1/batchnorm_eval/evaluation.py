import time

import torch


@torch.no_grad()
def evaluate(model, batches=40, pause=0.15):
    model.eval()
    right = total = 0
    for _ in range(batches):
        x = torch.randn(32, 12)
        right += (model(x).argmax(1) == (x[:, 0] > 0)).sum().item()
        total += 32
        time.sleep(pause)
    model.train()
    return right / total
