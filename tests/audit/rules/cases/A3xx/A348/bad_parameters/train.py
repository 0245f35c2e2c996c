import torch


class Agent:
    def __init__(self, q, target_q, optimizer, discount):
        self.q, self.target_q, self.optimizer, self.discount = q, target_q, optimizer, discount

    def update(self, obs, action, reward, new_obs, done):
        with torch.no_grad():
            target = reward.unsqueeze(1) + self.discount * self.target_q(new_obs).amax(1, keepdim=True)
        loss = (self.q(obs).gather(1, action) - target).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
