import torch
import torch.distributed as dist

from agent import ActorCritic
from envs import PointMass
from settings import Settings
from sync import average_gradients, gather_stats


class PPO:
    def __init__(self, cfg, rank, world):
        self.cfg, self.rank = cfg, rank
        torch.manual_seed(cfg.seed)
        self.net = ActorCritic()
        self.optim = torch.optim.Adam(self.net.parameters(), lr=cfg.lr)
        self.env = PointMass(cfg.n_envs, rank, world, cfg.seed)
        torch.manual_seed(cfg.seed + 17 * (rank + 1))

    @torch.no_grad()
    def rollout(self):
        obs, out = self.env.reset(), []
        for _ in range(self.cfg.horizon):
            dist_ = self.net.policy(obs)
            act = dist_.sample()
            nxt, rew = self.env.step(act)
            out.append((obs, act, dist_.log_prob(act).sum(-1), rew, self.net.value(obs)))
            obs = nxt
        last = self.net.value(obs)
        ret, returns = last, []
        for _, _, _, rew, _ in reversed(out):
            ret = rew + self.cfg.gamma * ret
            returns.append(ret)
        returns.reverse()
        o, a, lp, r, v = (torch.stack(t) for t in zip(*out))
        target = torch.stack(returns)
        adv = target - v
        return o.flatten(0, 1), a.flatten(0, 1), lp.flatten(), target.flatten(), adv.flatten(), r.mean().item()

    def minibatch(self, o, a, lp_old, target, adv):
        lp = self.net.policy(o).log_prob(a).sum(-1)
        ratio = (lp - lp_old).exp()
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        pg = -torch.min(ratio * adv, ratio.clamp(1 - self.cfg.clip, 1 + self.cfg.clip) * adv).mean()
        vf = 0.01 * (self.net.value(o) - target).pow(2).mean()
        kl = ((ratio - 1) - (lp - lp_old)).mean().item()
        return pg + vf, kl

    def update(self, batch):
        *tensors, reward = batch
        size = tensors[0].shape[0]
        kls = []
        for _ in range(self.cfg.update_epochs):
            for idx in torch.randperm(size).chunk(self.cfg.minibatches):
                loss, kl = self.minibatch(*(t[idx] for t in tensors))
                if kl > 1.5 * self.cfg.target_kl:
                    return kls, reward
                self.optim.zero_grad()
                loss.backward()
                average_gradients(self.net)
                self.optim.step()
                kls.append(kl)
        return kls, reward

    def learn(self):
        for it in range(self.cfg.iterations):
            kls, reward = self.update(self.rollout())
            stats = gather_stats([reward, sum(kls) / max(1, len(kls)), float(len(kls))])
            if self.rank == 0:
                print(f"iter {it} reward {stats[0]:.3f} kl {stats[1]:.4f} updates {stats[2]:.1f}", flush=True)


def main():
    dist.init_process_group("gloo")
    PPO(Settings(), dist.get_rank(), dist.get_world_size()).learn()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
