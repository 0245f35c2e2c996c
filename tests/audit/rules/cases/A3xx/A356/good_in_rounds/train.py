import torch


def groups_of(models):
    groups, current = [], []
    for model in models:
        if current:
            groups.append({"params": current})
        current = []
        for param in model.parameters():
            current.append(param)
    groups.append({"params": current})
    return groups


def by_closure(model):
    kept, all_of = [], []
    for param in model.parameters():
        kept.append(param)
        all_of.append(param)

    def norm():
        return sum(one.norm() for one in kept)

    return norm, torch.optim.SGD(all_of, 0.1)
