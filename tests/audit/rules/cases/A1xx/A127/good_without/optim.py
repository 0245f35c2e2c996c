from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LinearLR, SequentialLR


def by_hand(optimizer, total, warmup):
    return CosineAnnealingLR(optimizer, total - warmup)  # the loop warms up by itself


def chosen(optimizer, name, total, warmup):
    if name == "no_warmup":
        return CosineAnnealingLR(optimizer, total - warmup)
    return SequentialLR(optimizer, [LinearLR(optimizer, 0.1, total_iters=warmup), CosineAnnealingLR(optimizer, total - warmup)],
                        milestones=[warmup])


def in_lambda(optimizer, kind, total, warmup):
    if kind == "lambda":
        return LambdaLR(optimizer, lambda step: min(step / warmup, (total - step) / (total - warmup)))
    rising = LinearLR(optimizer, 0.1, total_iters=warmup)
    return SequentialLR(optimizer, [rising, CosineAnnealingLR(optimizer, total - warmup)], [warmup])
