from torch import nn


class Stack(nn.Module):
    def __init__(self, keys):
        super().__init__()
        self.keys = keys

    def forward(self, data):
        data.exclude(*self.keys, inplace=True)
        if len(data.keys()) == 0:
            return None
        return data
