from torch.optim import lr_scheduler

from warming import GradualWarmup


def falling(optimizer, total, first):
    rest = total - first
    return lr_scheduler.PolynomialLR(optimizer, total_iters=rest, power=2.0)


class Rates:
    def make(self, optimizer, kind, total, first):
        rising = lr_scheduler.LinearLR(optimizer, 0.01, total_iters=first)
        main = falling(optimizer, total, first)
        both = lr_scheduler.SequentialLR(optimizer, [rising, main], [first])
        print(kind, both)
        return main


def by_kind(optimizer, kind, total, warm):
    match kind:
        case "poly":
            return lr_scheduler.PolynomialLR(optimizer, total - warm)
        case "cosine":
            after = lr_scheduler.CosineAnnealingLR(optimizer, total - warm)
            return GradualWarmup(optimizer, warm, after)
        case _:
            raise ValueError(kind)
