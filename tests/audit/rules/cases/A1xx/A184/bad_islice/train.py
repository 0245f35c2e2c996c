import itertools

import torch


def main(model, optimizer, epochs, steps):
    batches = [torch.full((4, 8), float(i)) for i in range(1000)]
    for epoch in range(epochs):
        for batch in itertools.islice(itertools.cycle(batches), steps):
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
