import torch


def scenes(n, size=64, seed=0):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    masks = torch.zeros(n, size, size, dtype=torch.long)
    for i in range(n):
        for label in (1, 2):
            cy, cx, r = torch.randint(8, size - 8, (3,), generator=g).tolist()
            masks[i][(yy - cy) ** 2 + (xx - cx) ** 2 < (r // 5 + 3) ** 2] = label
    images = masks[:, None] * 0.4 + 0.2 * torch.randn(n, 1, size, size, generator=g)
    return images, masks
