import torch


def optimizer_of(model):
    learned, frozen, names = [], [], []
    for name, param in model.named_parameters():
        if "head" in name:
            learned.append(param)
            names.append(name)
        else:
            param.requires_grad = False
            frozen.append(param)
    return torch.optim.SGD(learned, 0.1)
