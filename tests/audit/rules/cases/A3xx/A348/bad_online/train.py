import torch


def train(env, actor, critic, optimizer, episodes, gamma=0.95):
    for _ in range(episodes):
        state, done, total = env.reset(), False, 0.0
        while not done:
            policy = torch.distributions.Categorical(logits=actor(state))
            action = policy.sample()
            following, reward, done, _ = env.step(action.item())
            error = reward + gamma * critic(following).detach() - critic(state)
            loss = error.pow(2) - policy.log_prob(action) * error.detach()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += reward
            state = following
            if done:
                print("episode", total)
                break
