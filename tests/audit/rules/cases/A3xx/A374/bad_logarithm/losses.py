from torch.nn.functional import binary_cross_entropy_with_logits


def focal(logits, target, alpha=0.25, gamma=2.0):
    logpt = -binary_cross_entropy_with_logits(logits, target, reduction="mean")
    pt = logpt.exp()
    return -alpha * (1.0 - pt).pow(gamma) * logpt
