import torch


def learn(policy, optimizer, memory, k_epochs, eps):
    states, actions, advantages = memory
    for _ in range(k_epochs):
        log_probs = policy.log_prob(states, actions)
        old_log_probs = policy.log_prob(states, actions).detach()
        log_ratio = log_probs - old_log_probs
        ratios = torch.exp(log_ratio)
        surrogate = torch.min(ratios * advantages, torch.clamp(ratios, 1 - eps, 1 + eps) * advantages)
        optimizer.zero_grad()
        (-surrogate.mean()).backward()
        optimizer.step()
