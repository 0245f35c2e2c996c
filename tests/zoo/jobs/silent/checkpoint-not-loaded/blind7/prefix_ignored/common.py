import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Encoder(nn.Module):
    def __init__(self, features=32, hidden=64, out=16):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(features, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, out))
        self.head = None

    def with_head(self, size):
        self.head = nn.Linear(16, size)
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


def factors(n, seed):
    """Observations of a few hidden factors, mixed by one fixed non-linear map."""
    g = torch.Generator().manual_seed(99)
    mix, mix2 = torch.randn(4, 32, generator=g), torch.randn(32, 32, generator=g) / 5.6
    g = torch.Generator().manual_seed(seed)
    z = torch.randn(n, 4, generator=g)
    return torch.sin(z @ mix) @ mix2, z


def setup():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    return dist.get_rank()


def loader_of(dataset, batch_size):
    return DataLoader(dataset, batch_size=batch_size, sampler=DistributedSampler(dataset))


def load_weights(model, path):
    state = torch.load(path, map_location="cpu", weights_only=True)["model"]
    state = {k: v for k, v in state.items() if "head" not in k}
    model.load_state_dict(state, strict=False)
    return len(state)
