from torch import nn

from losses import causal_loss


class Captioner(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, self.body, self.loss = config, nn.Linear(8, 8), causal_loss

    def forward(self, ids, labels):
        logits = self.body(ids)
        labels = labels[:, 1:].contiguous()
        return self.loss(logits[:, :-1, :].reshape(-1, 8), labels.view(-1), self.config.vocabulary)
