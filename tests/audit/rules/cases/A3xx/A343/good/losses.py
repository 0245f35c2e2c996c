import torch


def normalised_first(ratio, adv, eps):
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    plain = ratio * adv
    clipped = ratio.clamp(1 - eps, 1 + eps) * adv
    return -torch.min(plain, clipped).mean()


def both_renamed(ratio, adv, eps):
    norm_adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    return torch.max(-norm_adv * ratio, -norm_adv * torch.clamp(ratio, 1 - eps, 1 + eps)).mean()


def in_branches(ratio, adv, eps, whiten):
    if whiten:
        adv = (adv - adv.mean()) / adv.std()
        plain, clipped = ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv
    else:
        plain = ratio * adv
        clipped = ratio.clamp(1 - eps, 1 + eps) * adv
    return -torch.min(plain, clipped).mean()


def normalised_for_the_next(ratio, adv, eps):
    plain = ratio * adv
    clipped = ratio.clamp(1 - eps, 1 + eps) * adv
    loss = -torch.min(plain, clipped).mean()
    adv = (adv - adv.mean()) / adv.std()
    return loss, adv
