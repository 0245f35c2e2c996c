import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attend = nn.MultiheadAttention(dim, 4, batch_first=True)

    def forward(self, frames, lengths):
        valid = torch.arange(frames.size(1), device=frames.device)[None] < lengths[:, None]
        return self.attend(frames, frames, frames, key_padding_mask=valid)[0]
