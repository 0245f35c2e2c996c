import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from rollout import messages
from rollout.actor import EPISODES, STEPS
from rollout.policy import make_policy, pack
from rollout.roles import ACTOR, LEARNERS


def fetch(model, rank, group):
    episodes = torch.empty(STEPS, EPISODES, 5)
    if rank == LEARNERS[0]:
        messages.send(messages.WEIGHTS, pack(model), ACTOR)
        _, payload = messages.receive(ACTOR)
        episodes.copy_(payload.view_as(episodes))
    dist.broadcast(episodes, src=LEARNERS[0], group=group)
    return episodes.flatten(0, 1).chunk(len(LEARNERS))[LEARNERS.index(rank)]


def run(rank, group, rounds=12):
    model = DDP(make_policy(), process_group=group)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for i in range(rounds):
        rows = fetch(model.module, rank, group)
        for part in rows.split(48):
            loss = nn.functional.mse_loss(model(part[:, :4]), part[:, 4:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == LEARNERS[0] and i % 4 == 0:
            print(f"learner: round {i} loss {loss.item():.4f}", flush=True)
    if rank == LEARNERS[0]:
        messages.send(messages.STOP, torch.empty(0), ACTOR)
