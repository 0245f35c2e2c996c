import copy

import torch


def train(model, loader, optimizer):
    model = model.to("cuda", torch.bfloat16)
    ema_model = copy.deepcopy(model).float().eval()
    teacher = copy.deepcopy(model)
    for batch in loader:
        (model(batch) - teacher(batch)).mean().backward()
        optimizer.step()
        with torch.no_grad():
            for mine, theirs in zip(ema_model.parameters(), model.parameters()):
                mine.lerp_(theirs.float(), 1 - 0.9999)
