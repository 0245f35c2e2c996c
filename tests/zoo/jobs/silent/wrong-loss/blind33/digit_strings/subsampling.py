from torch import nn


class ConvSubsampling(nn.Module):
    """A stack of strided convolutions; gives the shortened lengths, too."""

    def __init__(self, features, channels, layers=2):
        super().__init__()
        self.convs = nn.ModuleList()
        for i in range(layers):
            self.convs.append(nn.Conv1d(features if i == 0 else channels, channels, 3, stride=2))

    def forward(self, x, lengths):
        for conv in self.convs:
            x = conv(x).relu()
            lengths = (lengths - 3) // 2 + 1
        return x, lengths


class Conv4xSubsampling(ConvSubsampling):
    def forward(self, x, lengths):
        outputs, lengths = super().forward(x, lengths)
        output_lengths = lengths >> 2
        output_lengths -= 1
        return outputs.transpose(1, 2), output_lengths
