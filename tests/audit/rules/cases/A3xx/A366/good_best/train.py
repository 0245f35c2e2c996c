import copy

import torch
from sklearn.model_selection import StratifiedKFold
from torch import nn

from data import table


def main():
    x, y = table()
    model = nn.Linear(12, 3)
    torch.save(model.state_dict(), "initial.pt")
    initial = copy.deepcopy(model.state_dict())
    for fold, (train, val) in enumerate(StratifiedKFold(5).split(x, y)):
        model.load_state_dict(torch.load("initial.pt", weights_only=True))
        optimizer = torch.optim.Adam(model.parameters())
        best, kept = 0.0, None
        for _ in range(50):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[train]), y[train]).backward()
            optimizer.step()
            with torch.no_grad():
                score = (model(x[val]).argmax(1) == y[val]).float().mean().item()
            if score > best:
                best, kept = score, copy.deepcopy(model.state_dict())
                torch.save(kept, f"best_{fold}.pt")
        model.load_state_dict(kept)
        print(fold, best)

    for fold, (train, val) in enumerate(StratifiedKFold(5).split(x, y)):
        optimizer = torch.optim.Adam(model.parameters())
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[train]), y[train]).backward()
        optimizer.step()
        with torch.no_grad():
            print(fold, (model(x[val]).argmax(1) == y[val]).float().mean().item())
        model.load_state_dict(initial)


main()
