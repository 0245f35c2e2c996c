import torch


def two_names(ratio, adv, eps):
    norm_adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    pg_loss1 = -adv * ratio
    pg_loss2 = -norm_adv * torch.clamp(ratio, 1 - eps, 1 + eps)
    return torch.max(pg_loss1, pg_loss2).mean()


def in_place(new, old, adv, eps):
    ratio = torch.exp(new - old)
    held = torch.clip(ratio, 1 - eps, 1 + eps)
    plain = ratio * adv
    adv -= adv.mean()
    adv /= adv.std() + 1e-8
    clipped = held * adv
    return -torch.minimum(plain, clipped).mean()


def by_function(ratio, data, eps):
    clipped = ratio.clamp(1 - eps, 1 + eps) * data["adv"]
    data["adv"] = whiten(data["adv"])
    return -torch.min(ratio * data["adv"], clipped).mean()


def whiten(values):
    return (values - values.mean()) * torch.rsqrt(values.var() + 1e-8)
