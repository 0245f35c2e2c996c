import torch

USERS, ITEMS, FACTORS = 300, 400, 6


def taste(seed=0):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(USERS, FACTORS, generator=g), torch.randn(ITEMS, FACTORS, generator=g)


def affinity(users, items):
    u, v = taste()
    return (u[users] * v[items]).sum(1) / FACTORS ** 0.5


def implicit(count, seed):
    g = torch.Generator().manual_seed(seed)
    users, items = torch.randint(0, USERS, (count,), generator=g), torch.randint(0, ITEMS, (count,), generator=g)
    played = (torch.sigmoid(2 * affinity(users, items)) > torch.rand(count, generator=g)).float()
    return users, items, played


def ratings(count, seed):
    g = torch.Generator().manual_seed(seed)
    users, items = torch.randint(0, USERS, (count,), generator=g), torch.randint(0, ITEMS, (count,), generator=g)
    return users, items, 3.0 + affinity(users, items) + 0.3 * torch.randn(count, generator=g)
