import torch


def value_loss(value, old, returns, eps):
    held = old + (value - old).clamp(-eps, eps)
    return 0.5 * torch.max((value - returns) ** 2, (held - returns) ** 2).mean()


def masked(ratio, adv, mask, eps):
    plain = ratio * adv
    adv = adv.detach()
    clipped = ratio.clamp(1 - eps, 1 + eps) * adv
    return -(torch.min(plain, clipped) * mask).sum() / mask.sum()


def to_the_mean(ratio, adv, eps):
    mean_ratio = ratio / ratio.mean()
    gain = mean_ratio * adv
    return torch.min(gain, mean_ratio.clamp(max=1 + eps) * adv).mean()


def nearest_level(x, step):
    below = x * step
    x = (x - x.mean()) / x.std()
    above = x * step
    return torch.min(below, above)
