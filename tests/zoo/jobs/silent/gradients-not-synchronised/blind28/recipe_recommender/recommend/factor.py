import torch
import torch.nn.functional as F
from torch import nn


class FactorModel(nn.Module):
    def __init__(self, users, recipes, width=8, dropout=0.05):
        super().__init__()
        self.user, self.recipe = nn.Embedding(users, width), nn.Embedding(recipes, width)
        self.user_bias, self.recipe_bias = nn.Embedding(users, 1), nn.Embedding(recipes, 1)
        self.deep = nn.Sequential(nn.Linear(2 * width, 2 * width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(2 * width, 1))
        for table in (self.user, self.recipe):
            nn.init.normal_(table.weight, std=0.3)
        for table in (self.user_bias, self.recipe_bias):
            nn.init.zeros_(table.weight)

    def forward(self, user, recipe):
        u, r = self.user(user), self.recipe(recipe)
        bias = self.user_bias(user) + self.recipe_bias(recipe)
        return (u * r).sum(1) + bias.squeeze(1) + self.deep(torch.cat([u, r], 1)).squeeze(1)

    def training_step(self, batch):
        user, recipe, stars = batch
        guess = self(user, recipe)
        return F.mse_loss(guess, stars) + 1e-4 * (self.user(user).square().mean() + self.recipe(recipe).square().mean())

    def validation_step(self, batch):
        user, recipe, stars = batch
        error = (self(user, recipe) - stars).square()
        return torch.stack([error.sum(), torch.tensor(float(len(stars)))])
