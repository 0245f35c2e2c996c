import torch
import torch.distributed as dist
from torch.nn import functional as F

from rl import wire
from rl.policy import Policy
from rl.world import GridWorld


class Learner:
    def __init__(self, cfg):
        self.cfg, self.policy = cfg, Policy(cfg["hidden"])
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=cfg["lr"])

    def update(self, rollout):
        states, actions, returns = rollout[:, :4], rollout[:, 4].long(), rollout[:, 5]
        logits, values = self.policy(states)
        advantage = (returns - values).detach()
        policy_loss = (F.cross_entropy(logits, actions, reduction="none") * advantage).mean()
        entropy = torch.distributions.Categorical(logits=logits).entropy().mean()
        loss = policy_loss + 0.5 * F.mse_loss(values, returns) - 0.01 * entropy
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self):
        active = dist.get_world_size() - 1
        for actor in range(1, dist.get_world_size()):
            wire.send_weights(self.policy, actor, True)
        updates = 0
        while active:
            rollout, actor = wire.recv_rollout(self.cfg["horizon"])
            loss = self.update(rollout)
            updates += 1
            go_on = updates < self.cfg["updates"]
            active -= not go_on
            wire.send_weights(self.policy, actor, go_on)
            if updates % 200 == 0:
                print(f"update {updates} loss {loss:.4f} mean return {rollout[:, 5].mean():.3f}", flush=True)


class Actor:
    def __init__(self, cfg, rank):
        self.cfg, self.policy = cfg, Policy(cfg["hidden"])
        self.world = GridWorld(cfg["size"], cfg["limit"], cfg["seed"] + rank)
        self.state = self.world.reset()

    @torch.no_grad()
    def collect(self):
        states, actions, rewards, ends = [], [], [], []
        for _ in range(self.cfg["horizon"]):
            logits, _ = self.policy(self.state)
            action = int(torch.distributions.Categorical(logits=logits).sample())
            states.append(self.state)
            self.state, reward, end = self.world.step(action)
            if end:
                self.state = self.world.reset()
            actions.append(action), rewards.append(reward), ends.append(end)
        value, returns = self.policy(self.state)[1].item(), []
        for reward, end in zip(reversed(rewards), reversed(ends)):
            value = reward + self.cfg["gamma"] * value * (not end)
            returns.append(value)
        columns = torch.tensor([actions, returns[::-1]], dtype=torch.float).T
        return torch.cat([torch.stack(states), columns], 1)

    def run(self):
        while wire.recv_weights(self.policy, 0):
            wire.send_rollout(self.collect(), 0)
