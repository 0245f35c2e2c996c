import numpy as np
import torch


class Corridor:
    """Walk to the right end; the observation is a rendered strip."""

    def __init__(self, rng, length=32):
        self.rng, self.length, self.at = rng, length, 0

    def render(self):
        strip = self.rng.normal(0, 0.05, self.length * 4).astype(np.float32)
        strip[self.at * 4:self.at * 4 + 4] += 1
        return strip

    @torch.no_grad()
    def rollout(self, policy, steps):
        observations, actions, rewards = [], [], []
        for _ in range(steps):
            seen = self.render()
            action = int(torch.multinomial(policy(torch.from_numpy(seen)).softmax(-1), 1))
            self.at = max(0, self.at + (1 if action else -1))
            reward = -0.01
            if self.at == self.length - 1:
                reward, self.at = 1.0, 0
            observations.append(seen)
            actions.append(action)
            rewards.append(reward)
        return np.stack(observations), np.array(actions), np.array(rewards, dtype=np.float32)
