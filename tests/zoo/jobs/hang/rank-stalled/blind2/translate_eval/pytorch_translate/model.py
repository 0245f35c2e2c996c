import torch
from torch import nn


class Seq2Seq(nn.Module):

    def __init__(self, vocab, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.decoder = nn.GRU(dim, dim, batch_first=True)
        self.proj = nn.Linear(dim, vocab)

    def forward(self, src, tgt):
        _, state = self.encoder(self.embed(src))
        out, _ = self.decoder(self.embed(tgt[:, :-1]), state)
        return nn.functional.cross_entropy(self.proj(out).flatten(0, 1), tgt[:, 1:].flatten())

    @torch.no_grad()
    def generate(self, src, beam, length):
        """Sampled beams: enough for the curve that is drawn during training."""
        _, state = self.encoder(self.embed(src[None]))
        state = state.repeat(1, beam, 1)
        token = src[:1].repeat(beam)[:, None]
        tokens = []
        for _ in range(length):
            out, state = self.decoder(self.embed(token), state)
            token = torch.multinomial(self.proj(out[:, -1]).softmax(-1), 1)
            tokens.append(token)
        return torch.cat(tokens, 1).tolist()
