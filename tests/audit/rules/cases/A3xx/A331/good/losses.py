from torch.nn import functional as F


def causal_loss(logits, labels, vocabulary):
    labels = F.pad(labels, (0, 1), value=-100)
    shift_labels = labels[..., 1:].contiguous()
    return F.cross_entropy(logits.view(-1, vocabulary), shift_labels.view(-1))
