import torch


def resume(path, model, optimizer):
    found = torch.load(path, map_location="cpu", weights_only=True)
    model.module.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])
    return found["step"]
