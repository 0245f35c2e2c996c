import torch


def train(model, loader, criterion, scaler):
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        out = model(x)
        loss = criterion(out, y)
        if scaler is None:
            loss.backward()
            optimizer.step()
        if scaler is not None:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        optimizer.zero_grad()
