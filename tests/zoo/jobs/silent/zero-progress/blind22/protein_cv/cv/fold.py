import torch
from torch import nn
from torch.utils.data import DataLoader, Subset


def network():
    return nn.Sequential(nn.Embedding(20, 8), nn.Flatten(), nn.Linear(120, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0))


def run_fold(path, fold, folds, epochs, out):
    torch.set_num_threads(1)
    torch.manual_seed(fold)
    data = torch.load(path)
    train = Subset(data, [i for i in range(len(data)) if i % folds != fold])
    test = Subset(data, range(fold, len(data), folds))
    model = network()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(epochs):
        for ids, score in DataLoader(train, batch_size=32, shuffle=True):
            loss = nn.functional.mse_loss(model(ids), score)
            opt.zero_grad()
            loss.backward()
            opt.step()
    with torch.no_grad():
        ids, score = next(iter(DataLoader(test, batch_size=len(test))))
        error = nn.functional.mse_loss(model(ids), score).item()
    torch.save(model.state_dict(), f"{out}/fold{fold}.pt")
    print(f"fold {fold}: test mse {error:.3f}", flush=True)
    return error
