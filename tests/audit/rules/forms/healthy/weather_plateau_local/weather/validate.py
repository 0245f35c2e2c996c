import torch
import torch.distributed as dist


def latitude_weights(h, device):
    lat = torch.linspace(-90, 90, h, device=device).deg2rad()
    w = lat.cos().clamp(min=0)
    return (w / w.mean())[None, None, :, None]


@torch.no_grad()
def weighted_rmse(model, loader, device):
    model.eval()
    total, n = 0.0, 0
    for now, later in loader:
        now, later = now.to(device), later.to(device)
        w = latitude_weights(now.size(-2), device)
        total += ((model(now) - later).pow(2) * w).mean((1, 2, 3)).sqrt().sum().item()
        n += now.size(0)
    model.train()
    both = torch.tensor([total, float(n)], dtype=torch.float64, device=device)
    dist.all_reduce(both)
    return (both[0] / both[1].clamp(min=1)).item()
