import torch
import torch.distributed as dist
import torch.nn as nn

from ppo import PPO

# scenes are shared out by their memory: the large one has a worker of its own
ENVS_PER_RANK = {0: 6, 1: 1}
STEPS, UPDATES, OBS, ACT = 48, 260, 24, 4


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(OBS, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh())
        self.pi, self.v = nn.Linear(256, ACT), nn.Linear(256, 1)

    def evaluate(self, obs, act):
        h = self.body(obs)
        d = torch.distributions.Categorical(logits=self.pi(h), validate_args=False)
        return d.log_prob(act), self.v(h).squeeze(-1)

    @torch.no_grad()
    def act(self, obs):
        h = self.body(obs)
        d = torch.distributions.Categorical(logits=self.pi(h), validate_args=False)
        a = d.sample()
        return a, d.log_prob(a), self.v(h).squeeze(-1)


class VecEnv:
    def __init__(self, n, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.w = torch.randn(OBS, ACT, generator=torch.Generator().manual_seed(0))
        self.n = n
        self.obs = torch.randn(n, OBS, generator=self.g)

    def step(self, act):
        reward = (self.obs @ self.w).gather(1, act[:, None]).squeeze(1) / OBS ** 0.5
        self.obs = 0.7 * self.obs + 0.7 * torch.randn(self.n, OBS, generator=self.g)
        return reward


def collect(policy, env):
    keys = {k: [] for k in ("obs", "act", "logp", "val", "rew")}
    for _ in range(STEPS):
        obs = env.obs
        act, logp, val = policy.act(obs)
        for k, v in zip(keys, (obs, act, logp, val, env.step(act))):
            keys[k].append(v)
    roll = {k: torch.stack(v) for k, v in keys.items()}
    ret = torch.zeros(STEPS, env.n)
    running = torch.zeros(env.n)
    for t in reversed(range(STEPS)):
        running = roll["rew"][t] + 0.9 * running
        ret[t] = running
    return {**roll, "ret": ret, "adv": ret - roll["val"]}


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    policy = Policy()
    torch.manual_seed(rank + 1)
    env, agent = VecEnv(ENVS_PER_RANK[rank], rank), PPO(policy)
    for update in range(UPDATES):
        roll = collect(policy, env)
        loss = agent.update(roll)
        if rank == 0 and update % 20 == 0:
            print(f"update {update} reward {roll['rew'].mean():.3f} loss {loss:.3f}", flush=True)
    if rank == 0:
        torch.save(policy.state_dict(), "policy.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
