import torch
import torch.distributed as dist
from torch import nn
from torch.distributions import Normal

from vec_task import BallBalance


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 32), nn.ELU(), nn.Linear(32, 32), nn.ELU())
        self.mu = nn.Linear(32, 1)
        self.value = nn.Linear(32, 1)
        self.sigma = nn.Parameter(torch.zeros(1))

    def forward(self, obs):
        h = self.trunk(obs)
        return self.mu(h).squeeze(-1), self.sigma.exp(), self.value(h).squeeze(-1)


class A2CAgent:
    def __init__(self, params):
        config = params["config"]
        self.config = config
        self.multi_gpu = config["multi_gpu"]
        self.rank = dist.get_rank() if self.multi_gpu else 0
        self.rank_size = dist.get_world_size() if self.multi_gpu else 1
        self.model = Network()
        if self.multi_gpu:
            for p in self.model.state_dict().values():
                dist.broadcast(p, 0)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config["learning_rate"])
        self.vec_env = BallBalance(config["env_config"])
        self.obs = self.vec_env.obs()

    @torch.no_grad()
    def play_steps(self):
        cols = [[] for _ in range(6)]
        for _ in range(self.config["horizon_length"]):
            mu, sigma, value = self.model(self.obs)
            action = Normal(mu, sigma).sample()
            logp = Normal(mu, sigma).log_prob(action)
            nxt, reward, done = self.vec_env.step(action)
            for col, item in zip(cols, (self.obs, action, logp, value, reward, done)):
                col.append(item)
            self.obs = nxt
        obs, action, logp, value, reward, done = (torch.stack(c) for c in cols)
        last = self.model(self.obs)[2]
        returns = torch.zeros_like(reward)
        for t in reversed(range(len(reward))):
            last = returns[t] = reward[t] + self.config["gamma"] * last * (1 - done[t])
        adv = returns - value
        return [x.flatten(0, 1) for x in (obs, action, logp, returns, (adv - adv.mean()) / (adv.std() + 1e-8))], reward.mean()

    def train_actor_critic(self, obs, action, logp_old, returns, adv):
        mu, sigma, value = self.model(obs)
        logp = Normal(mu, sigma).log_prob(action)
        ratio = (logp - logp_old).exp()
        a_loss = torch.max(-adv * ratio, -adv * ratio.clamp(0.8, 1.2)).mean()
        loss = a_loss + 0.5 * (value - returns).square().mean() - 0.001 * sigma.log().mean()
        self.optimizer.zero_grad()
        loss.backward()
        if self.multi_gpu:
            flat = torch.cat([p.grad.view(-1) for p in self.model.parameters()])
            dist.all_reduce(flat)
            flat /= self.rank_size
            for p, g in zip(self.model.parameters(), flat.split([p.numel() for p in self.model.parameters()])):
                p.grad.copy_(g.view_as(p))
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()

    def train(self):
        for epoch in range(self.config["max_epochs"]):
            batch, reward = self.play_steps()
            for _ in range(self.config["mini_epochs"]):
                self.train_actor_critic(*batch)
            if self.rank == 0:
                print(f"epoch: {epoch + 1} mean step reward: {reward.item():.3f}", flush=True)
