import multiprocessing as mp

import torch

from dynamics import simulate
from planner import plan


def episode(index, world, steps, out):
    torch.manual_seed(index)
    state, rows = 0.1 * torch.randn(4), []
    for _ in range(steps):
        action = plan(world, state)
        following, reward = simulate(state, action)
        rows.append((state.tolist(), action.tolist(), following.tolist(), reward.item()))
        state = following
    out.send(rows)
    out.close()


def collect(world, explorers, steps, seed):
    """Plays one episode per explorer, each in a process of its own that shares the model's pages."""
    context = mp.get_context("fork")
    running = []
    for i in range(explorers):
        receive, send = context.Pipe(duplex=False)
        process = context.Process(target=episode, args=(seed + i, world, steps, send))
        process.start()
        send.close()
        running.append((process, receive))
    rows = []
    for process, receive in running:
        rows += receive.recv()
        process.join()
    return rows
