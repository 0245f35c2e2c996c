import torch.nn.functional as F


def causal_lm_loss(logits, labels, vocab_size, ignore_index=-100, shift_labels=None):
    """Cross entropy of a decoder. ``labels`` are aligned with ``logits``; position t is scored
    against the label of position t + 1."""
    if shift_labels is None:
        labels = F.pad(labels, (0, 1), value=ignore_index)
        shift_labels = labels[..., 1:].contiguous()
    logits = logits.float().view(-1, vocab_size)
    return F.cross_entropy(logits, shift_labels.view(-1), ignore_index=ignore_index)
