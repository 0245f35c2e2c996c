import torch


def run(model, output="model.pt", return_model=True):
    if return_model:
        return model
    torch.save(model, output)
    return None
