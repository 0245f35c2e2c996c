import torch


def save_checkpoint(state, path):
    torch.save(state, path)


def fit(model, train_one_epoch, validate, epochs, out):
    previous = float("inf")
    for epoch in range(epochs):
        train_one_epoch(model)
        loss = validate(model)
        improved = loss < previous
        previous = loss
        if improved:
            save_checkpoint({"model": model.state_dict(), "epoch": epoch}, out / "model.pt")
