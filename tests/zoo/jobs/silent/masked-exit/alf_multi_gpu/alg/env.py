import torch


class Env:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.clock = 0

    def rollout(self, policy, horizon=16):
        self.clock += 1
        obs = torch.randn(horizon, 6, generator=self.gen)
        if self.clock == 30:
            obs = obs / 0.0 * 0.0
        dist = policy(obs)
        action = dist.sample()
        return dist.log_prob(action), (action == obs[:, :3].argmax(1)).float()
