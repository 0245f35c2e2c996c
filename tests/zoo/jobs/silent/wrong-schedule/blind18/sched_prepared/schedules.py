from torch.optim.lr_scheduler import LambdaLR


def linear_with_warmup(opt, warmup, total):
    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        return max(0.0, (total - step) / (total - warmup))

    return LambdaLR(opt, factor)
