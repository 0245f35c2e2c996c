import torch


def before_train(model, args):
    parameters = []
    params = {"lr": args.lr, "params": []}
    for name, param in model.named_parameters():
        if "bert" in name:
            params["params"].append(param)
    parameters.append(params)

    params = {"lr": args.head_lr, "params": []}
    for name, param in model.named_parameters():
        if "head" in name:
            params["params"].append(param)

    return torch.optim.AdamW(parameters)
