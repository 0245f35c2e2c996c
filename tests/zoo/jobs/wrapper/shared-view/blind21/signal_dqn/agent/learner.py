import random

import torch
import torch.nn.functional as F

from agent.registry import build


class Learner:
    def __init__(self, env, config):
        self.config = config
        options = dict(observations=env.observations, actions=env.actions, width=config["width"])
        self.online = build(config["network"], **options)
        self.target = build(config["network"], **options)
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=config["lr"])
        self.updates = 0

    @torch.no_grad()
    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        return int(self.online(torch.from_numpy(state)[None]).argmax(dim=1))

    def update(self, batch):
        state, action, reward, following, done = batch
        with torch.no_grad():
            best = self.online(following).argmax(dim=1, keepdim=True)
            bootstrap = self.target(following).gather(1, best).squeeze(1)
            goal = reward + self.config["gamma"] * (1 - done) * bootstrap
        value = self.online(state).gather(1, action[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.config["target_every"] == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss.item()
