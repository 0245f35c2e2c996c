import torch
import torch.distributed as dist

from bandit_env import Foraging
from ppo import PPO, Agent, broadcast


def collect(env, agent, horizon=20, gamma=0.95):
    obs, rows = env.reset(), []
    for _ in range(horizon):
        with torch.no_grad():
            policy = torch.distributions.Categorical(logits=agent.pi(obs))
            act = policy.sample()
            row = (obs, act, policy.log_prob(act), agent.v(obs).squeeze(-1))
        obs, reward = env.step(act)
        rows.append(row + (reward,))
    obs, act, logp, value, reward = (torch.stack(c) for c in zip(*rows))
    ret, total = torch.zeros_like(reward), torch.zeros(env.n)
    for t in reversed(range(horizon)):
        total = reward[t] + gamma * total
        ret[t] = total
    adv = ret - value
    return obs.flatten(0, 1), act.flatten(), logp.flatten(), adv.flatten(), ret.flatten(), reward.sum(0).mean()


def normalise(x):
    stats = torch.tensor([x.sum(), (x**2).sum(), float(x.numel())])
    dist.all_reduce(stats)
    mean = stats[0] / stats[2]
    return (x - mean) / ((stats[1] / stats[2] - mean**2).clamp_min(1e-8).sqrt())


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(10 * rank)
    agent = Agent()
    broadcast(agent)
    env, ppo = Foraging(24, seed=rank), PPO(agent)
    for epoch in range(40):
        obs, act, logp, adv, ret, score = collect(env, agent)
        taken = ppo.update(obs, act, logp, normalise(adv), ret)
        dist.all_reduce(score)
        if rank == 0 and epoch % 8 == 7:
            print(f"epoch {epoch} return {score.item() / dist.get_world_size():.3f} policy steps {taken}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
