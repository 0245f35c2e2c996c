import torch


def step(model, batch):
    try:
        loss = model(batch).sum()
        loss.backward()
        return loss.item()
    except RuntimeError:
        return None


def first(batches):
    model = torch.nn.Linear(2, 1)
    return [step(model, batch) for batch in batches]
