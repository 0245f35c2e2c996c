import torch


def returns(rewards, values, starts, last_value, gamma=0.99, lam=0.95):
    found, last = [], 0.0
    values = [*values, last_value]
    for t in range(len(rewards) - 1, -1, -1):
        alive = 1 - starts[t + 1] if t + 1 < len(rewards) else 1 - starts[-1]
        delta = rewards[t] + gamma * values[t + 1] * alive - values[t]
        last = delta + gamma * lam * alive * last
        found.insert(0, last + values[t])
    return found


def rollout(env, agent, length):
    obs = env.reset()
    rewards, values, starts = [], [], []
    done = True
    for _ in range(length):
        starts.append(float(done))
        action, value = agent(torch.as_tensor(obs))
        obs, reward, done, _ = env.step(action)
        if done:
            obs = env.reset()
        rewards.append(reward)
        values.append(value)
    return returns(rewards, values, [*starts, done], agent(torch.as_tensor(obs))[1])
