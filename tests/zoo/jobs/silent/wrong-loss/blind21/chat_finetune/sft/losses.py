import torch.nn.functional as F

from sft.conversations import IGNORE


def causal_lm_loss(logits, labels):
    """Mean negative log likelihood of the reply tokens."""
    logits = logits[:, :-1].flatten(0, 1)
    labels = labels[:, 1:].flatten()
    return F.cross_entropy(logits, labels, ignore_index=IGNORE)
