import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from proteins import RESIDUES, STATES


class ResidueTagger(nn.Module):
    def __init__(self, dim=48, layers=1):
        super().__init__()
        self.embed = nn.Embedding(RESIDUES, dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, dim, 5, padding=2)
        self.rnn = nn.GRU(dim, dim, layers, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, STATES)

    def forward(self, seq, states, lengths):
        x = self.embed(seq)
        x = x + F.gelu(self.conv(x.transpose(1, 2))).transpose(1, 2)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        x, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        logits = self.out(x)
        loss = F.cross_entropy(logits.flatten(0, 1), states.flatten(), ignore_index=-100)
        right = (logits.argmax(-1) == states)[states != -100].float().mean()
        return loss, right
