from torch.utils.data import DataLoader


def make_loader(data, batch, split, cut=True):
    return DataLoader(data, batch, shuffle=split == "train", drop_last=cut)


def main(model, optimizer, train_set, val_set, evaluate):
    best = 0.0
    loader = make_loader(train_set, 64, "train")
    val_loader = make_loader(val_set, 64, "val")
    test_loader = DataLoader(val_set, 64, shuffle=True)
    for batch in loader:
        model(batch).backward()
        optimizer.step()
        best = max(best, evaluate(model, val_loader), evaluate(model, test_loader))
