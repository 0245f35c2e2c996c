import torch


class CartPoleBatch:
    """Many carts at once, in float32 on the host."""

    observations, actions = 4, 1

    def __init__(self, episodes, horizon):
        self.episodes, self.horizon = episodes, horizon

    def rollout(self, policy, generator):
        s = (torch.rand(self.episodes, 4, generator=generator) - 0.5) * 0.2
        alive = torch.ones(self.episodes)
        total = torch.zeros(self.episodes)
        for _ in range(self.horizon):
            force = 10.0 * policy(s).squeeze(1).clamp(-1, 1)
            x, v, a, w = s.unbind(1)
            t = (force + 0.05 * w * w * a.sin()) / 1.1
            aa = (9.8 * a.sin() - a.cos() * t) / (0.5 * (4 / 3 - 0.1 * a.cos() ** 2 / 1.1))
            xa = t - 0.05 * aa * a.cos() / 1.1
            s = torch.stack([x + 0.02 * v, v + 0.02 * xa, a + 0.02 * w, w + 0.02 * aa], dim=1)
            alive = alive * ((s[:, 0].abs() < 2.4) & (s[:, 2].abs() < 0.21))
            total += alive
            if not alive.any():
                break
        return total.mean().item()
