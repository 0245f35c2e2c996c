import torch
from torch import nn

VOCAB = "0123456789+-*/"


class Policy(nn.Module):
    def __init__(self, hidden=64, length=5):
        super().__init__()
        self.length = length
        self.embed = nn.Embedding(20, hidden)
        self.cell = nn.GRUCell(len(VOCAB), hidden)
        self.head = nn.Linear(hidden, len(VOCAB))

    def forward(self, prompts):
        state = self.embed(prompts)
        token = torch.zeros(len(prompts), len(VOCAB))
        logp, chosen = 0.0, []
        for _ in range(self.length):
            state = self.cell(token, state)
            dist = torch.distributions.Categorical(logits=self.head(state))
            pick = dist.sample()
            logp = logp + dist.log_prob(pick)
            token = nn.functional.one_hot(pick, len(VOCAB)).float()
            chosen.append(pick)
        return logp, torch.stack(chosen, 1)


def decode(tokens):
    return ["".join(VOCAB[t] for t in row).replace("/", "//") for row in tokens.tolist()]
