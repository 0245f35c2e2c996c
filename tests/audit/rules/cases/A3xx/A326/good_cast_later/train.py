import copy

import torch


def train(model, loader, optimizer):
    model = model.to("cuda")
    ema_model = copy.deepcopy(model)
    for batch in loader:
        model(batch).backward()
        optimizer.step()
        with torch.no_grad():
            for mine, theirs in zip(ema_model.parameters(), model.parameters()):
                mine.lerp_(theirs, 1 - 0.9999)
    model.to(torch.bfloat16)
    torch.save(model.state_dict(), "model.pt")
