import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, max_vocab, dim, hidden):
        super().__init__()
        self.embed = nn.Embedding(max_vocab + 2, dim)
        self.mix = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))

    def forward(self, ids):
        return self.mix(self.embed(ids).mean(1))


class MaskedWordModel(nn.Module):
    def __init__(self, encoder, max_vocab, dim):
        super().__init__()
        self.encoder, self.decoder = encoder, nn.Linear(dim, max_vocab + 2)

    def forward(self, ids):
        return self.decoder(self.encoder(ids))


class IntentClassifier(nn.Module):
    def __init__(self, encoder, dim, classes):
        super().__init__()
        self.encoder, self.head = encoder, nn.Sequential(nn.Dropout(0.2), nn.Linear(dim, classes))

    def forward(self, ids):
        return self.head(self.encoder(ids))
