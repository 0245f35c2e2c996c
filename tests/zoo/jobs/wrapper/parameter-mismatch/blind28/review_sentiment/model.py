import torch
from torch import nn


class SentimentNet(nn.Module):
    def __init__(self, vocabulary_size: int, width: int = 32, classes: int = 2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary_size, width, padding_idx=0)
        self.conv = nn.Conv1d(width, width, 3, padding=1)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens):
        hidden = self.embed(tokens).transpose(1, 2)
        hidden = torch.relu(self.conv(hidden)).amax(dim=2)
        return self.head(self.drop(hidden))
