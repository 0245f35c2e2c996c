import torch
from adapters import Adapted, load
from torch import nn


def save(layer, first, path):
    load(layer, "first", first)
    torch.save({"down": torch.cat([layer.down["main"], layer.down["first"]])}, path)


def main(batches):
    layer = Adapted(nn.Linear(8, 8), 2)
    layer.add("main")
    layer.activate("main")
    first = {"down": layer.down["main"].detach().clone()}
    head = nn.Linear(8, 2)
    optimizer = torch.optim.AdamW([*(one for one in layer.parameters() if one.requires_grad), *head.parameters()])
    for step, (x, y) in enumerate(batches):
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(layer(x)), y).backward()
        optimizer.step()
        if step % 100 == 0:
            save(layer, first, f"{step}.pt")


if __name__ == "__main__":
    main(torch.load("batches.pt"))
