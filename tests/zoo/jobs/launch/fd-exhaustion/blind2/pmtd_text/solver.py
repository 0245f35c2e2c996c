import torch


def make_optimizer(model, base_lr, weight_decay, bias_lr_factor=2.0):
    params = []
    for key, value in model.named_parameters():
        lr = base_lr * (bias_lr_factor if "bias" in key else 1.0)
        params.append({"params": [value], "lr": lr, "weight_decay": 0.0 if "bias" in key else weight_decay})
    return torch.optim.SGD(params, lr=base_lr, momentum=0.9)


def make_scheduler(optimizer, warmup, total):
    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        return max(0.05, 1 - (step - warmup) / max(total - warmup, 1))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
