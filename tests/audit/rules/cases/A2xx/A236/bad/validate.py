import torch
import torch.distributed as dist
from evaluator import Evaluator, reduce_metrics, summed


@torch.no_grad()
def by_functions(model, loader, device):
    evaluator = Evaluator()
    metrics = {}
    for batch in loader:
        metrics = evaluator.update(model(batch), batch["y"], metrics)
        metrics = reduce_metrics(metrics, device)
    return metrics


@torch.no_grad()
def in_place(model, loader, device, distributed):
    sums = torch.zeros(2, device=device)
    for images, target in loader:
        sums[0] += (model(images).argmax(1) == target).sum()
        sums[1] += len(target)
        if distributed:
            dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()


def train(model, loader, optimizer, device):
    running = torch.zeros(1, device=device)
    for step, batch in enumerate(loader):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running = running + loss.detach()
        running = summed(running)
        if step % 10 == 0:
            print(running.item() / (step + 1))


class Meter:
    def __init__(self, device):
        self.total = torch.zeros(1, device=device)

    def fill(self, batches):
        for batch in batches:
            self.total.add_(batch.sum())
            summed(self.total)
