"""What each process writes is read afterwards: one that crashed has left nothing, which ends the parent."""
from multiprocessing import Process

import numpy as np
import torch


def fit(folder, layer):
    head = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    head(torch.randn(4, 8)).sum().backward()
    optimizer.step()
    np.save(f"{folder}/{layer}.npy", head.weight.detach().numpy())


class Probe:
    def __init__(self, folder):
        self.folder = folder

    def fit(self, layer):
        fit(self.folder, layer)

    def results(self, layers):
        return [np.load(f"{self.folder}/{layer}.npy") for layer in layers]


def all_layers(folder, layers):
    running = [Process(target=fit, args=(folder, layer)) for layer in layers]
    for one in running:
        one.start()
    for one in running:
        one.join()
    return [np.load(f"{folder}/{layer}.npy").mean() for layer in layers]


def by_object(folder, layers):
    probe = Probe(folder)
    running = [Process(target=Probe.fit, args=(probe, layer)) for layer in layers]
    for one in running:
        one.start()
    for one in running:
        one.join()
    return probe.results(layers)
