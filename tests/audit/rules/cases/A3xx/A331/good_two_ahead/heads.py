from losses import causal_loss


def multi_token_loss(logits, ids, vocabulary):
    """The second head is to say the token after the next one."""
    labels = ids[:, 1:]
    return causal_loss(logits[:, :-1], labels, vocabulary)
