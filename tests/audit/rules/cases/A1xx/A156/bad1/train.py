import torch
from data import build_loader


def fit(model, loader):
    for batch in loader:
        model(batch).sum().backward()


def main(dataset):
    loader = build_loader(dataset)
    model = torch.nn.Linear(2, 1)
    for epoch in range(8):
        fit(model, loader)


if __name__ == "__main__":
    main(torch.ones(64, 2))
