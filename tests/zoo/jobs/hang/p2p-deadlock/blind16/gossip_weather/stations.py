import torch


class GaugeFeed:
    """Hourly readings of one region; a region may report little in an hour."""

    def __init__(self, region, hours, outage=None):
        self.g = torch.Generator().manual_seed(71 * region + 3)
        self.hours = hours
        self.outage = outage or {}

    def __iter__(self):
        for hour in range(self.hours):
            n = self.outage.get(str(hour), 32)
            x = torch.randn(n, 12, generator=self.g)
            y = x[:, :3].sum(1, keepdim=True) + 0.1 * torch.randn(n, 1, generator=self.g)
            yield hour, x, y
