import torch


def scenes(n, generator=None):
    """One bright box per image: its class is its size, its target the corners."""
    kind = torch.randint(0, 4, (n,), generator=generator)
    corner = torch.randint(0, 8, (n, 2), generator=generator)
    image = 0.1 * torch.randn(n, 1, 16, 16, generator=generator)
    size = kind + 3
    for i in range(n):
        y, x, s = int(corner[i, 0]), int(corner[i, 1]), int(size[i])
        image[i, 0, y:y + s, x:x + s] += 1
    box = torch.cat([corner, corner + size[:, None]], 1).float() / 16
    return image, kind, box
