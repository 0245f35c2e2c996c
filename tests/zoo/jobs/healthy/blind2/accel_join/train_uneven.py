import logging
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader

from accel import Accelerator
from accel.counters import Throughput
from accel.data import WebShards

logging.basicConfig(level=logging.WARNING)


def train(accelerator, epochs=3):
    torch.manual_seed(1)
    model = accelerator.prepare(nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 2)))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        counter = Throughput()
        dataset = WebShards(accelerator.process_index, accelerator.num_processes, seed=epoch)
        with accelerator.join_uneven_inputs([model], even_batches=False):
            for x, y in DataLoader(dataset, batch_size=8):
                loss = nn.functional.cross_entropy(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                counter.add(len(y))
        logging.warning("rank %d ran out of data after %d batches", accelerator.process_index, counter.batches)
        total = accelerator.reduce_sum(counter.tensor())
        accelerator.print(f"epoch {epoch}: {total[0].item()} samples, loss {loss.item():.4f}")


if __name__ == "__main__":
    warnings.simplefilter("always")
    accelerator = Accelerator()
    train(accelerator)
    accelerator.end()
