import torch.nn.functional as F

from recipe.data import IGNORE


class NoValidTargets(RuntimeError):
    """Not one token of the batch is to be predicted."""


def masked_loss(logits, labels):
    if bool((labels == IGNORE).all()):
        raise NoValidTargets("no supervised token in this micro-batch")
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE)
