import torch


def before_train(model, args):
    parameters = []
    for word, lr in (("bert", args.lr), ("head", args.head_lr)):
        params = {"lr": lr, "params": []}
        for name, param in model.named_parameters():
            if word in name:
                params["params"].append(param)
        parameters.append(params)
    return torch.optim.AdamW(parameters)


def split(model):
    decay, no_decay = [], []
    for name, param in model.named_parameters():
        if param.ndim < 2:
            no_decay.append(param)
        else:
            decay.append(param)
    return [{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}]
