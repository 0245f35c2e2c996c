import time

import torch

from rollout import messages
from rollout.policy import make_policy, unpack

EPISODES, STEPS = 24, 12


def play(policy, generator):
    states = torch.randn(EPISODES, 4, generator=generator)
    record = []
    with torch.no_grad():
        for _ in range(STEPS):
            action = policy(states)
            record.append(torch.cat([states, states[:, :1] - 0.5 * states[:, 1:2]], 1))
            states = 0.9 * states + 0.1 * action
    time.sleep(0.3)
    return torch.stack(record)


def run(learner=0):
    policy, generator = make_policy(), torch.Generator().manual_seed(9)
    rounds = 0
    while True:
        kind, payload = messages.receive(learner)
        if kind == messages.STOP:
            print(f"actor: {rounds} rounds played", flush=True)
            return
        unpack(policy, payload)
        messages.send(messages.EPISODES, play(policy, generator).flatten(), learner)
        rounds += 1
