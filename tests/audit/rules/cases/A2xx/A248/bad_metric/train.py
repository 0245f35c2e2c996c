import torch
from sklearn.metrics import f1_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def run(x, y):
    loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
    model = nn.Linear(16, 5)
    preds = []
    for batch, _ in loader:
        preds.extend(model(batch).argmax(1).tolist())
    print(f1_score(y, preds, average="macro"))


run(torch.load("x.pt"), torch.load("y.pt"))
