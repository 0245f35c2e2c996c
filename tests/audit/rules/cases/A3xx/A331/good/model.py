from torch import nn

from losses import causal_loss


class Captioner(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, self.body, self.loss = config, nn.Linear(8, 8), causal_loss

    def forward(self, ids, labels):
        logits = self.body(ids)
        labels = labels.long()
        return self.loss(logits, labels.view(-1), self.config.vocabulary)
