import logging

import torch
from torch import nn

from listens import ITEMS, USERS

log = logging.getLogger("songs")


class TwoTowers(nn.Module):
    def __init__(self, dim=16, pretrained=None):
        super().__init__()
        self.user = nn.Embedding(USERS, dim)
        self.item = nn.Embedding(ITEMS, dim)
        self.user_proj = nn.Linear(dim, dim)
        self.item_proj = nn.Linear(dim, dim)
        self.bias = nn.Parameter(torch.zeros(1))
        for table in (self.user, self.item):
            nn.init.normal_(table.weight, std=0.1)
        if pretrained:
            self._load_pretrained(pretrained)

    def _load_pretrained(self, path):
        pretrain_dict = torch.load(path, map_location="cpu")
        model_dict = {}
        state_dict = self.state_dict()
        for name, value in pretrain_dict.items():
            if name in model_dict and not name.startswith("bias"):
                model_dict[name] = value
        state_dict.update(model_dict)
        self.load_state_dict(state_dict)
        log.info("initialized towers from %s", path)

    def forward(self, users, items):
        return (self.user_proj(self.user(users)) * self.item_proj(self.item(items))).sum(1) + self.bias
