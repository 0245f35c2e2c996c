import torch
from torch.nn.utils import clip_grad_norm_


def train(model, batches):
    trained = (p for name, p in model.named_parameters() if "bias" not in name)
    print(sum(p.numel() for p in trained))
    optimizer = torch.optim.SGD(trained, lr=0.1)
    for x in batches:
        model(x).mean().backward()
        optimizer.step()


def clip_only(model, optimizer, batches):
    params = model.parameters()
    for x in batches:
        model(x).mean().backward()
        clip_grad_norm_(params, 1.0)
        optimizer.step()
