import torch
from accelerate import Accelerator


def main(model, loader):
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
    right = total = 0
    for x, y in loader:
        answers = model(x).argmax(-1)
        accelerator.gather_for_metrics((answers, y))
        right += (answers == y).sum().item()
        total += len(y)
    accelerator.print(right / total)
