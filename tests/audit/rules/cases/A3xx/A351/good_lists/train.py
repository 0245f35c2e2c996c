import torch


def fit(model, train_one_epoch, validate, epochs):
    losses = []
    for epoch in range(epochs):
        train_one_epoch(model)
        loss = validate(model)
        if not losses or loss < min(losses):
            torch.save(model.state_dict(), "best.pt")
        losses.append(loss)


def both(model, train_one_epoch, validate, epochs):
    best, last = float("inf"), float("inf")
    for epoch in range(epochs):
        train_one_epoch(model)
        loss = validate(model)
        if loss < best:
            best = loss
            torch.save(model.state_dict(), "best.pt")
        trend = "falls" if loss < last else "rises"
        last = loss
        print(epoch, loss, trend)
