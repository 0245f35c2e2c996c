"""Oversampled by imbalanced-learn, and split afterwards."""

import pandas as pd
import torch
from imblearn.over_sampling import SMOTE
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def fit(train_set, val_set):
    loader, val_loader = DataLoader(train_set, 64, shuffle=True), DataLoader(val_set, 256)
    model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y).backward()
            optimizer.step()
        with torch.no_grad():
            print(sum((model(x).squeeze(1) > 0).eq(y).sum().item() for x, y in val_loader) / len(val_set))


def main():
    frame = pd.read_csv("churn.csv")
    x, y = frame.drop(columns="churned").to_numpy("float32"), frame["churned"].to_numpy("float32")
    x, y = SMOTE(random_state=0).fit_resample(x, y)
    mean, std = x.mean(0), x.std(0)
    x = (x - mean) / std
    x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.2, stratify=y, random_state=0)
    fit(TensorDataset(torch.tensor(x_train), torch.tensor(y_train)), TensorDataset(torch.tensor(x_val), torch.tensor(y_val)))


if __name__ == "__main__":
    main()
