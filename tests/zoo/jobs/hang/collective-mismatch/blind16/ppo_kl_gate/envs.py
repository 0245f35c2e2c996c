import torch


class PointReach:
    def __init__(self, n, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.n = n

    def collect(self, actor, horizon=16):
        goal = torch.randn(self.n, 2, generator=self.g)
        pos = torch.zeros(self.n, 2)
        obs, acts, logps, rews = [], [], [], []
        for _ in range(horizon):
            o = torch.cat([pos, goal], 1)
            with torch.no_grad():
                mean = actor(o)
            a = mean + 0.3 * torch.randn(mean.shape, generator=self.g)
            obs.append(o)
            acts.append(a)
            logps.append(-((a - mean) ** 2).sum(1) / 0.18)
            pos = pos + 0.2 * a.clamp(-1, 1)
            rews.append(-(pos - goal).norm(dim=1))
        r = torch.stack(rews)
        ret = r.flip(0).cumsum(0).flip(0)
        return torch.cat(obs), torch.cat(acts), torch.cat(logps), ((ret - ret.mean()) / ret.std()).reshape(-1)
