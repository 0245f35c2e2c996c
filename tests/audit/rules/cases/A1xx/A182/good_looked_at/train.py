from torch.utils.data import DataLoader


def main(model, optimizer, train_set, val_set, show):
    loader = DataLoader(train_set, 64, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, 8, shuffle=True, drop_last=True)
    for batch in loader:
        model(batch).backward()
        optimizer.step()
    show(model, next(iter(val_loader)))
