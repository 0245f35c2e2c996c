import numpy as np
from common import Waves
from torch import nn, optim
from torch.utils.data import DataLoader


def seed_worker(worker_id):
    np.random.seed(17 + worker_id)


def main():
    model = nn.Linear(100, 1)
    optimizer = optim.SGD(model.parameters(), 0.1)
    for waves in DataLoader(Waves("waves.npy"), 8, num_workers=4, worker_init_fn=seed_worker):
        optimizer.zero_grad()
        model(waves).mean().backward()
        optimizer.step()


main()
