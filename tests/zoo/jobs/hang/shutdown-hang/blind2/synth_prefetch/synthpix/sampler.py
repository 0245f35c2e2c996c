import torch


class FlowSampler:
    """Endless pairs of images of particles in a random linear flow."""

    def __init__(self, batch_size, size=16, particles=24, seed=0):
        self.batch_size, self.size, self.particles = batch_size, size, particles
        self.generator = torch.Generator().manual_seed(seed)

    def _render(self, points):
        grid = torch.arange(self.size, dtype=torch.float32)
        dx = torch.exp(-((points[..., 0, None] - grid) ** 2))
        dy = torch.exp(-((points[..., 1, None] - grid) ** 2))
        return torch.einsum("bpx,bpy->bxy", dx, dy)

    def __iter__(self):
        return self

    def __next__(self):
        g = self.generator
        points = torch.rand(self.batch_size, self.particles, 2, generator=g) * self.size
        flow = torch.randn(self.batch_size, 1, 2, generator=g)
        return torch.stack([self._render(points), self._render(points + flow)], 1), flow[:, 0]
