import torch
import torch.distributed as dist


class StainMoments:
    """Per channel mean and deviation of the stain concentrations of all patches."""

    def __init__(self, channels):
        self.sums = torch.zeros(2, channels, dtype=torch.float64)
        self.count = torch.zeros(1, dtype=torch.float64)

    def update(self, patches):
        flat = patches.double().transpose(0, 1).flatten(1)
        self.sums[0] += flat.sum(1)
        self.sums[1] += flat.square().sum(1)
        self.count += flat.shape[1]

    def finalize(self):
        if dist.is_initialized():
            dist.all_reduce(self.sums)
            dist.all_reduce(self.count)
        mean = self.sums[0] / self.count
        std = (self.sums[1] / self.count - mean.square()).clamp_min(1e-8).sqrt()
        return {"mean": mean.float(), "std": std.float()}
