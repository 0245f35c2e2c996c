import torch
from torch import nn


class TokenPolicy(nn.Module):
    def __init__(self, vocab=24, width=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        h, _ = self.rnn(self.embed(tokens))
        return self.head(h)


@torch.no_grad()
def rollout(policy, prompts, length, generator):
    seq = prompts
    for _ in range(length):
        probs = policy(seq)[:, -1].softmax(-1)
        seq = torch.cat([seq, torch.multinomial(probs, 1, generator=generator)], 1)
    return seq
