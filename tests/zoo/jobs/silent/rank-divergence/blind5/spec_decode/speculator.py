import torch
from torch import nn


class DraftHead(nn.Module):
    """Predicts the verifier's next-token distribution from its hidden state and the current token."""

    def __init__(self, vocab=40, hidden=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.fuse = nn.Linear(2 * hidden, hidden)
        self.mlp = nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, 3 * hidden), nn.SiLU(),
                                 nn.Linear(3 * hidden, hidden))
        self.lm_head = nn.Linear(hidden, vocab)

    def forward(self, hidden, tokens):
        x = self.fuse(torch.cat([hidden, self.embed(tokens)], dim=-1))
        return self.lm_head(x + self.mlp(x))


def hidden_state_dataset(n=320, vocab=40, hidden=24):
    g = torch.Generator().manual_seed(31)
    states = torch.randn(n, 6, hidden, generator=g)
    tokens = torch.randint(0, vocab, (n, 6), generator=g)
    readout = torch.randn(hidden, vocab, generator=g)
    bigram = torch.randn(vocab, vocab, generator=g)
    targets = torch.softmax(states @ readout / hidden**0.5 * 2 + bigram[tokens], dim=-1)
    return torch.utils.data.TensorDataset(states, tokens, targets)
