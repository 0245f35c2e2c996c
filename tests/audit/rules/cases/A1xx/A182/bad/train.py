import torch
from torch.utils.data import DataLoader


def main(model, optimizer, train_set, val_set, evaluate):
    best = 0.0
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=64, shuffle=True, drop_last=True)
    for epoch in range(10):
        for batch in train_loader:
            model(batch).backward()
            optimizer.step()
        score = evaluate(model, val_loader)
        if score > best:
            best = score
            torch.save(model.state_dict(), "best.pt")
