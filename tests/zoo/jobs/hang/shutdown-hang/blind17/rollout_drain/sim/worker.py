import os

import torch

from .cartload import CartLoad


def rollout(env, weight, horizon):
    states, rewards = [], []
    s = env.reset()
    for _ in range(horizon):
        states.append(s)
        s, r = env.step((weight @ s).clamp(-2, 2))
        rewards.append(r)
    return torch.stack(states).transpose(1, 2).reshape(-1, 4).numpy(), torch.stack(rewards).reshape(-1).numpy()


def serve(index, world, weights, results, stop, horizon):
    os.environ.update(RANK=str(index), WORLD_SIZE=str(world), LOCAL_RANK=str(index))
    torch.set_num_threads(1)
    env = CartLoad(index)
    while not stop.is_set():
        results.put((index,) + rollout(env, weights.clone(), horizon))
    print(f"worker {index} leaves", flush=True)
