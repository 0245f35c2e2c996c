import torch


def returns(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    found, last = [], 0.0
    values = [*values, last_value]
    for t in range(len(rewards) - 1, -1, -1):
        alive = 1 - dones[t]
        delta = rewards[t] + gamma * values[t + 1] * alive - values[t]
        last = delta + gamma * lam * alive * last
        found.insert(0, last + values[t])
    return found


def rollout(env, agent, length):
    obs = env.reset()
    rewards, values, dones = [], [], []
    for _ in range(length):
        action, value = agent(torch.as_tensor(obs))
        obs, reward, done, _ = env.step(action)
        if done:
            obs = env.reset()
        rewards.append(reward)
        values.append(value)
        dones.append(float(done))
    return returns(rewards, values, dones, agent(torch.as_tensor(obs))[1])
