import torch
import torch.nn.functional as F


def real_or_fake(scores, real):
    target = torch.ones_like(scores) if real else torch.zeros_like(scores)
    return F.binary_cross_entropy_with_logits(scores, target)


def generator_loss(scores, fake, photo, l1_weight):
    return real_or_fake(scores, True) + l1_weight * F.l1_loss(fake, photo)


def discriminator_loss(real_scores, fake_scores):
    return 0.5 * (real_or_fake(real_scores, True) + real_or_fake(fake_scores, False))
