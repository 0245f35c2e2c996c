import torch
from torch import nn


class MoSLanguageModel(nn.Module):
    """LSTM language model with a mixture of softmaxes (Yang et al. 2018)."""

    def __init__(self, vocab, emb=48, hidden=96, experts=4):
        super().__init__()
        self.experts, self.emb = experts, emb
        self.encoder = nn.Embedding(vocab, emb)
        self.rnn = nn.LSTM(emb, hidden, batch_first=True)
        self.prior = nn.Linear(hidden, experts, bias=False)
        self.latent = nn.Sequential(nn.Linear(hidden, experts * emb), nn.Tanh())
        self.decoder = nn.Linear(emb, vocab)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, tokens):
        out, _ = self.rnn(self.encoder(tokens))
        weight = self.softmax(self.prior(out))
        latent = self.latent(out).view(*out.shape[:2], self.experts, self.emb)
        prob = self.softmax(self.decoder(latent))
        return (weight.unsqueeze(-1) * prob).sum(2)
