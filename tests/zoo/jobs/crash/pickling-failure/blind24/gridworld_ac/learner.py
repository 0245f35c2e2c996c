import os

import torch
import torch.distributed as dist

from nets import actor_net


def unpack(item):
    if isinstance(item, dict):
        return item["obs"], item["actions"], item["returns"]
    return item.obs, item.actions, item.returns


def main():
    dist.init_process_group("gloo")
    world = dist.get_world_size()
    net = actor_net()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for update in range(int(os.environ["UPDATES"])):
        for p in net.parameters():
            dist.broadcast(p.data, 0)
        batch = []
        for src in range(1, world):
            box = [None]
            dist.recv_object_list(box, src=src)
            batch += box[0]
        parts = [unpack(b) for b in batch]
        obs = torch.tensor([o for p in parts for o in p[0]])
        actions = torch.tensor([a for p in parts for a in p[1]])
        returns = torch.tensor([r for p in parts for r in p[2]])
        logp = torch.distributions.Categorical(logits=net(obs)).log_prob(actions)
        loss = -(logp * (returns - returns.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 10 == 0:
            print(f"update {update} return {returns.mean():+.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
