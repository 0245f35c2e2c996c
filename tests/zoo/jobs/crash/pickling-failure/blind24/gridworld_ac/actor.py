import dataclasses
import os

import torch
import torch.distributed as dist

from grid import Grid
from nets import actor_net


@dataclasses.dataclass
class Rollout:
    obs: list
    actions: list
    returns: list
    truncated: bool = False


def play(env, net, gamma=0.97):
    obs, actions, rewards = [], [], []
    state, done = env.reset(), False
    while not done:
        with torch.no_grad():
            action = torch.distributions.Categorical(logits=net(torch.tensor(state))).sample().item()
        obs.append(state)
        actions.append(action)
        state, reward, done = env.step(action)
        rewards.append(reward)
    returns, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        returns.append(running)
    returns.reverse()
    if env.left == 0:
        return Rollout(obs, actions, returns, truncated=True)
    return dict(obs=obs, actions=actions, returns=returns)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    env, net = Grid(rank), actor_net()
    for update in range(int(os.environ["UPDATES"])):
        for p in net.parameters():
            dist.broadcast(p.data, 0)
        rollouts = [play(env, net) for _ in range(4)]
        dist.send_object_list([rollouts], dst=0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
