import torch
from torch import nn

PER_GRAPH = ("energy", "stress", "dipole", "quadrupole", "enthalpy", "pressure")
PER_ATOM = ("forces", "charges", "spins", "radii", "velocities", "polarisability")


class Potential(nn.Module):
    supported = frozenset(PER_GRAPH + PER_ATOM)

    def __init__(self, width=16):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, width), nn.SiLU())
        self.heads = nn.ModuleDict({name: nn.Linear(width, 1) for name in PER_GRAPH + PER_ATOM})

    def output_data(self, requested):
        """Names that are both asked for and known."""
        return set(requested) & self.supported

    def forward(self, positions, requested):
        hidden = self.trunk(positions)
        outputs = dict.fromkeys(self.output_data(requested))
        for name in outputs:
            value = self.heads[name](hidden)
            outputs[name] = value.sum(0) if name in PER_GRAPH else value
        return outputs
