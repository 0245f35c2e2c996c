import torch
from torch_geometric.datasets import Planetoid

data = Planetoid("cora", "Cora")[0]
criterion = torch.nn.CrossEntropyLoss()


def evaluate(model):
    model.eval()
    pred = model(data.x, data.edge_index).argmax(1)
    return {name: (pred[data[name]] == data.y[data[name]]).float().mean() for name in ("val_mask", "test_mask")} | {
        "train": (pred[data["train_mask"]] == data.y[data["train_mask"]]).float().mean()
    }


def run(model, optimizer, epochs):
    for _ in range(epochs):
        model.train()
        optimizer.zero_grad()
        loss = criterion(model(data.x, data.edge_index), data.y)
        loss.backward()
        optimizer.step()
        print(evaluate(model), data.val_mask.sum())
