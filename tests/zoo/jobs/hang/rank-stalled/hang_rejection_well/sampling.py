import torch

CENTRES = [(0.5, 0.5), (0.9, 0.9)]


class Domain:
    """The unit square without a disc that grows with the curriculum."""

    def __init__(self, quadrant):
        self.centre = torch.tensor(CENTRES[quadrant])
        self.low = torch.tensor([0.0, 0.0]) if quadrant == 0 else torch.tensor([0.7, 0.7])
        self.g = torch.Generator().manual_seed(quadrant)

    def inside(self, p, radius):
        return (p - self.centre).norm(dim=1) > radius

    def sample(self, count, shrink):
        kept = torch.empty(0, 2)
        while len(kept) < count:
            p = self.low + (1 - self.low) * torch.rand(count, 2, generator=self.g)
            kept = torch.cat([kept, p[self.inside(p, radius=shrink)]])
        return kept[:count]
