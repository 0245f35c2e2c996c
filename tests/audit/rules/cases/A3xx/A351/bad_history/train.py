import torch


def fit(model, train_one_epoch, validate, epochs):
    losses = [float("inf")]
    for epoch in range(epochs):
        train_one_epoch(model)
        loss = validate(model)
        if loss < losses[-1]:
            torch.save(model.state_dict(), "model_best.pt")
        losses.append(loss)
