import time

import torch


@torch.no_grad()
def evaluate(net, folds=50):
    """Scores fold by fold; the scorer is a service that takes half a second for each."""
    net.eval()
    right = 0
    for fold in range(folds):
        generator = torch.Generator().manual_seed(fold)
        x = torch.randn(64, 16, generator=generator)
        right += (net(x).argmax(1) % 2 == (x[:, 0] > 0).long()).sum().item()
        time.sleep(0.5)
    net.train()
    print(f"validation accuracy {right / 64 / folds:.3f}", flush=True)
