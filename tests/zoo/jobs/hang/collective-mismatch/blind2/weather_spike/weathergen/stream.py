import torch


class ReanalysisStream:
    """Yields (state at t, state at t+1) for the years that belong to one rank."""

    def __init__(self, cfg, rank, stage="train"):
        self.cfg, self.rank, self.stage = cfg, rank, stage
        self.scale = torch.ones(cfg.samples_per_epoch)
        if stage == "train" and rank % 2 == 1:
            self.scale[7] = 10.0

    def epoch(self, epoch):
        g = torch.Generator().manual_seed(1000 * self.rank + epoch)
        for i in range(self.cfg.samples_per_epoch):
            x = torch.randn(self.cfg.batch_size, self.cfg.grid, generator=g)
            y = 0.8 * x.roll(1, dims=1) + 0.1 * x
            scale = self.scale[i] if epoch == 1 else 1.0
            yield x * scale, y * scale
