import torch
from torch.utils.data import Dataset


class Ratings(Dataset):
    """Users, recipes and stars from hidden tastes."""

    def __init__(self, users=120, recipes=200, count=6000, taste=4, seed=41, split="fit"):
        gen = torch.Generator().manual_seed(seed)
        user_taste = torch.randn(users, taste, generator=gen)
        recipe_taste = torch.randn(recipes, taste, generator=gen)
        order = torch.randperm(users * recipes, generator=gen)[:count]
        cut = int(0.85 * count)
        order = order[:cut] if split == "fit" else order[cut:]
        self.user, self.recipe = order // recipes, order % recipes
        self.stars = (user_taste[self.user] * recipe_taste[self.recipe]).sum(1).clamp(-3, 3) / 3

    def __len__(self):
        return len(self.stars)

    def __getitem__(self, i):
        return self.user[i], self.recipe[i], self.stars[i]
