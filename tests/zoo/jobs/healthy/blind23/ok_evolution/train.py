"""Evolution strategies over ranks: all see one batch, each tries its own perturbations, fitness and seeds are exchanged."""
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def main(pairs=8, sigma=0.05):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    x = torch.randn(1024, 6)
    y = (x[:, :1] - 0.5 * x[:, 1:2] + 0.3 * x[:, 2:3]).tanh()
    loader = DataLoader(TensorDataset(x, y), 128, shuffle=True, generator=torch.Generator().manual_seed(1))
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    flat = nn.utils.parameters_to_vector(model.parameters()).detach()
    opt = torch.optim.Adam([flat], 0.02)
    noise = torch.Generator().manual_seed(100 + rank)
    for epoch in range(20):
        for a, b in loader:
            grad = torch.zeros_like(flat)
            with torch.no_grad():
                for _ in range(pairs):
                    eps = torch.randn(flat.shape, generator=noise)
                    fit = []
                    for sign in (1, -1):
                        nn.utils.vector_to_parameters(flat + sign * sigma * eps, model.parameters())
                        fit.append(F.mse_loss(model(a), b))
                    grad += (fit[0] - fit[1]) / (2 * sigma) * eps
            dist.all_reduce(grad)
            flat.grad = grad / (pairs * world)
            opt.step()
        if rank == 0 and epoch % 5 == 4:
            nn.utils.vector_to_parameters(flat, model.parameters())
            print(f"generation {epoch} loss {F.mse_loss(model(x), y).item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
