import argparse

import torch

from dynamics import World, simulate
from explore import collect


def random_rows(n):
    state, action = torch.randn(n, 4), torch.rand(n, 1) * 2 - 1
    following, reward = simulate(state, action)
    return state, action, following, reward


def fit(world, optimizer, data, steps):
    state, action, following, reward = data
    for _ in range(steps):
        pick = torch.randint(0, len(state), (8192,))
        predicted, value = world(state[pick], action[pick])
        loss = ((predicted - following[pick]) ** 2).mean() + ((value - reward[pick]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--explorers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    world = World()
    optimizer = torch.optim.Adam(world.parameters(), lr=1e-3)
    data = random_rows(20000)
    for iteration in range(args.iterations):
        loss = fit(world, optimizer, data, steps=20)
        print(f"iteration {iteration}: model loss {loss:.4f}", flush=True)
        rows = collect(world, args.explorers, steps=5, seed=10 * iteration)
        new = [torch.tensor(column) for column in zip(*rows)]
        data = tuple(torch.cat([old, extra]) for old, extra in zip(data, new))
        print(f"iteration {iteration}: {len(rows)} new transitions", flush=True)


if __name__ == "__main__":
    main()
