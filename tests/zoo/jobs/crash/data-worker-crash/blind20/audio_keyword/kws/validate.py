import torch
import torch.distributed as dist

from kws.dataset import log_spectrum


@torch.no_grad()
def accuracy(model, dataset, indices):
    model.eval()
    right = torch.zeros(2)
    for index in indices:
        wave, label = dataset[index]
        right[0] += int(model(log_spectrum(wave[None])).argmax() == label)
        right[1] += 1
    dist.all_reduce(right)
    model.train()
    return (right[0] / right[1]).item()
