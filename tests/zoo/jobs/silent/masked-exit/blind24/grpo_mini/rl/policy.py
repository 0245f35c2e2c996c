import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, vocab=12, width=48):
        super().__init__()
        self.vocab = vocab
        self.embed = nn.Embedding(vocab, width)
        self.cell = nn.GRUCell(width, width)
        self.head = nn.Linear(width, vocab)

    def generate(self, prompts, length):
        state, token, out = torch.zeros(len(prompts), self.embed.embedding_dim), prompts, []
        for _ in range(length):
            state = self.cell(self.embed(token), state)
            token = torch.multinomial(self.head(state).softmax(-1), 1).squeeze(1)
            out.append(token)
        return torch.stack(out, 1)

    def logp(self, prompts, completions):
        state, token, total = torch.zeros(len(prompts), self.embed.embedding_dim), prompts, 0.0
        for t in range(completions.size(1)):
            state = self.cell(self.embed(token), state)
            token = completions[:, t]
            total = total + self.head(state).log_softmax(-1).gather(1, token[:, None]).squeeze(1)
        return total
