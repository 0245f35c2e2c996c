import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class ConvSubsampling(nn.Module):
    def __init__(self, mel, dim, factor):
        super().__init__()
        layers, channels = [], mel
        while factor > 1:
            layers += [nn.Conv1d(channels, dim, 3, stride=2, padding=1), nn.ReLU()]
            channels, factor = dim, factor // 2
        self.net = nn.Sequential(*layers)
        self.stages = len(layers) // 2

    def forward(self, x, lengths):
        for _ in range(self.stages):
            lengths = (lengths + 1) // 2
        return self.net(x.transpose(1, 2)).transpose(1, 2), lengths


class CTCModel(nn.Module):
    def __init__(self, mel=16, dim=64, vocab=21, subsampling=8):
        super().__init__()
        self.front = ConvSubsampling(mel, dim, subsampling)
        self.rnn = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * dim, vocab)

    def forward(self, frames, lengths):
        x, lengths = self.front(frames, lengths)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        x, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.head(x).log_softmax(-1), lengths
