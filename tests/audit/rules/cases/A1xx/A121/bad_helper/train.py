import torch
from torch.optim.lr_scheduler import CosineAnnealingLR


class Trainer:
    def __init__(self, actor, critic, steps):
        self.actor_optimizer = torch.optim.AdamW(actor.parameters())
        self.critic_optimizer = torch.optim.AdamW(critic.parameters())
        self.schedulers = self.make(self.actor_optimizer, self.critic_optimizer, steps)

    def make(self, actor_optimizer, critic_optimizer, steps):
        first = CosineAnnealingLR(actor_optimizer, steps)
        second = CosineAnnealingLR(actor_optimizer, 2 * steps)
        return first, second
