import torch
import torch.distributed as dist


def normalize(adv, dim):
    return (adv - adv.mean(dim, keepdim=True)) / (adv.std(dim, keepdim=True) + 1e-5)


class PPO:
    def __init__(self, policy, lr=3e-4, clip=0.2, max_grad_norm=0.5):
        self.policy, self.clip, self.max_grad_norm = policy, clip, max_grad_norm
        self.opt = torch.optim.Adam(policy.parameters(), lr=lr)

    def update(self, roll):
        # over the environments of this worker
        adv = normalize(roll["adv"], dim=1)
        logp, value = self.policy.evaluate(roll["obs"], roll["act"])
        ratio = (logp - roll["logp"]).exp()
        surr = torch.min(ratio * adv, ratio.clamp(1 - self.clip, 1 + self.clip) * adv)
        loss = -surr.mean() + 0.5 * (value - roll["ret"]).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.before_step()
        self.opt.step()
        return loss.item()

    def before_step(self):
        world = dist.get_world_size()
        for p in self.policy.parameters():
            torch.nan_to_num_(p.grad, nan=0.0, posinf=0.0, neginf=0.0)
            dist.all_reduce(p.grad)
            p.grad /= world
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
