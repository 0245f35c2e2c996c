import torch
from torch import nn


class Front(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.word = nn.Embedding(vocab, d)
        self.rnn = nn.GRU(d, d, batch_first=True)

    def forward(self, tok):
        return self.rnn(self.word(tok))[0]


class Back(nn.Module):
    def __init__(self, vocab, d):
        super().__init__()
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.word = nn.Embedding(vocab, d)

    def forward(self, h):
        return self.rnn(h)[0] @ self.word.weight.T


def build(layout, cfg):
    torch.manual_seed(cfg.seed + layout.stage)
    net = (Front if layout.first else Back)(cfg.vocab, cfg.dim)
    with torch.no_grad():
        net.word.weight.copy_(torch.randn(cfg.vocab, cfg.dim, generator=torch.Generator().manual_seed(cfg.seed)) * 0.1)
    return net


def thaw_plan(net, cfg):
    """Names of parameters to hold fixed from a given update on."""
    if not isinstance(net, Front):
        return {}
    return {cfg.settle_at: [n for n, _ in net.named_parameters() if n in cfg.settle]}
