import time

import torch


@torch.no_grad()
def render(net, frames, size=32):
    """Draws the learnt field frame by frame."""
    axis = torch.linspace(-1, 1, size)
    grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), -1).view(-1, 2)
    film = []
    for k in range(frames):
        t = torch.full((len(grid), 1), k / frames)
        film.append(net(torch.cat([grid, t], 1)).view(size, size))
        time.sleep(0.5)
    return torch.stack(film)
