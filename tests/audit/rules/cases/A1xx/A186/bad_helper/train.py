import pandas as pd
import torch
from balance import balanced
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Rows(Dataset):
    def __init__(self, frame):
        self.x = torch.tensor(frame.drop(columns="label").values, dtype=torch.float32)
        self.y = torch.tensor(frame["label"].values, dtype=torch.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, at):
        return self.x[at], self.y[at]


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


if __name__ == "__main__":
    data = Rows(balanced(pd.read_parquet("rows.parquet"), "label", seed=3))
    held_out = len(data) // 5
    train_part, val_part = random_split(data, [len(data) - held_out, held_out])
    fit(train_part, val_part)
