import torch


def plan(world, state, horizon=8, samples=4096, elites=64, rounds=2):
    mean, std = torch.zeros(horizon, 1), torch.ones(horizon, 1)
    for _ in range(rounds):
        actions = mean + std * torch.randn(samples, horizon, 1)
        current, total = state.expand(samples, 4), torch.zeros(samples)
        with torch.no_grad():
            for t in range(horizon):
                current, reward = world(current, actions[:, t])
                total = total + reward
        best = actions[total.topk(elites).indices]
        mean, std = best.mean(0), best.std(0)
    return mean[0]
