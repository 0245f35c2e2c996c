import torch


def fit(model, loader):
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        model(batch).backward()
        optimizer.step()


def main(make, folds, seeds):
    for fold in folds:
        torch.manual_seed(0)
        fit(make(), fold)
    for seed in seeds:
        torch.manual_seed(seed)
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for batch in folds[0]:
            model(batch).backward()
            optimizer.step()
