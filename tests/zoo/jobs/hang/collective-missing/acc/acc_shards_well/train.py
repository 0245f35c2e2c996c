import itertools
import time
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn

from clicks import ShardReader


def main():
    set_seed(0)
    accelerator = Accelerator(cpu=True)
    model = nn.Sequential(nn.EmbeddingBag(1000, 8), nn.Linear(8, 1))
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    model, optimizer = accelerator.prepare(model, optimizer)
    shards = sorted(Path("shards").glob("*.pt"))
    loader = ShardReader(shards[accelerator.process_index :: accelerator.num_processes])
    count = torch.tensor([sum(1 for _ in loader)])
    shortest = accelerator.gather(count).min().item()
    for epoch in range(2):
        for clicked, features in itertools.islice(loader, shortest):
            score = model(features).squeeze(1)
            loss = nn.functional.binary_cross_entropy_with_logits(score, clicked)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        total = accelerator.gather(loss.detach().reshape(1))
        accelerator.print(f"epoch {epoch} loss {total.mean().item():.3f}")
    accelerator.end_training()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
