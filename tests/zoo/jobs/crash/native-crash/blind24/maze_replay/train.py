import os
import random
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from agent.maze import Maze
from agent.memory import Memory


def explore(env, net, memory, steps, epsilon):
    cells = [[y / env.size, x / env.size] for y in range(env.size) for x in range(env.size)]
    with torch.no_grad():
        greedy = dict(zip(map(tuple, cells), net(torch.tensor(cells)).argmax(1).tolist()))
    state = env.reset()
    for _ in range(steps):
        if random.random() < epsilon:
            action = random.randrange(4)
        else:
            action = greedy[tuple(state)]
        following, reward, done = env.step(action)
        memory.add(state, action, reward, done)
        state = env.reset() if done else following


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    random.seed(rank)
    torch.manual_seed(0)
    folder = tempfile.mkdtemp(prefix="maze-")
    net = DDP(nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 4)))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    env, memory = Maze(rank), Memory()
    for phase in range(8):
        explore(env, net.module, memory, 500 * 2 ** phase, max(0.2, 1 - 0.2 * phase))
        for _ in range(20):
            states, actions, returns = memory.sample(64)
            loss = nn.functional.mse_loss(net(states).gather(1, actions[:, None]).squeeze(1), returns)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            torch.save({"net": net.module.state_dict(), "memory": memory.state_dict()}, os.path.join(folder, "agent.pt"))
            print(f"phase {phase}: td {loss.item():.4f}, {len(memory.items)} transitions saved", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
