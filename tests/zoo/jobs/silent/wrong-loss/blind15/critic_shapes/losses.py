import torch


def policy_loss(logp, old, advantage, clip):
    ratio = (logp - old).exp()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    return -torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()


def value_loss(value, old, returns, clip):
    clipped = old + (value - old).clamp(-clip, clip)
    plain, limited = (value - returns).square(), (clipped - returns).square()
    return 0.5 * torch.max(plain, limited).mean()
