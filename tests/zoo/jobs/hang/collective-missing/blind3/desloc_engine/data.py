import torch


class SensorStream:
    """Batches of one site; sites differ in their calibration."""

    def __init__(self, cfg, rank):
        self.cfg, self.rank = cfg, rank
        self.generator = torch.Generator().manual_seed(cfg.seed + rank)
        self.weights = torch.linspace(-1, 1, cfg.features)

    def read(self, index):
        x = torch.randn(self.cfg.batch_size, self.cfg.features, generator=self.generator)
        y = x @ self.weights + 0.1 * self.rank
        if self.rank == 1 and index == 6:
            x[3, 2] = 2.5e20  # saturated channel, as it comes from the recorder
        return x, y

    def __iter__(self):
        for index in range(1, self.cfg.steps + 1):
            yield index, self.read(index)
