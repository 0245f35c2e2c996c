"""Actors in processes of their own feed a learner through a queue, until the task is solved."""
import queue

import torch
import torch.multiprocessing as mp
from torch import nn

from env import Crawler


def net():
    return nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))


def actor(index, generation, shared, out):
    torch.set_num_threads(1)
    torch.manual_seed(100 * generation + index)
    env = Crawler(1000 * generation + index)
    while True:
        state, done, rows = env.reset(), False, []
        while not done:
            with torch.no_grad():
                action = torch.distributions.Categorical(logits=shared(torch.tensor(state))).sample().item()
            following, reward, done = env.step(action)
            rows.append((state, action, reward))
            state = following
        value = sum(r for _, _, r in rows) * 0.95 ** len(rows)
        out.put([(s, a, value) for s, a, _ in rows])


class Crew:
    def __init__(self, count, shared):
        self.context, self.shared = mp.get_context("spawn"), shared
        self.out = self.context.Queue(64)
        self.generation = [0] * count
        self.members = [self.hire(i) for i in range(count)]
        self.replaced = 0

    def hire(self, i):
        process = self.context.Process(target=actor, args=(i, self.generation[i], self.shared, self.out), daemon=True)
        process.start()
        return process

    def check(self):
        for i, process in enumerate(self.members):
            if process.exitcode:
                print(f"actor {i} ended with {process.exitcode}, a new one takes its place", flush=True)
                self.generation[i] += 1
                self.replaced += 1
                self.members[i] = self.hire(i)

    def dismiss(self):
        for process in self.members:
            process.terminate()
        for process in self.members:
            process.join()


def main(updates=400, solved=0.8):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    shared = net()
    shared.share_memory()
    crew = Crew(2, shared)
    optimizer = torch.optim.Adam(shared.parameters(), lr=5e-3)
    mean = 0.0
    for update in range(updates):
        episodes = []
        while len(episodes) < 16:
            try:
                episodes.append(crew.out.get(timeout=1.0))
            except queue.Empty:
                pass
            crew.check()
        rows = [row for episode in episodes for row in episode]
        state, action = torch.tensor([r[0] for r in rows]), torch.tensor([r[1] for r in rows])
        value = torch.tensor([r[2] for r in rows])
        logp = torch.distributions.Categorical(logits=shared(state)).log_prob(action)
        loss = -(logp * (value - value.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean += 0.1 * (sum(e[0][2] > 0 for e in episodes) / len(episodes) - mean)
        if update % 25 == 0:
            print(f"update {update} success {mean:.3f}", flush=True)
        if mean > solved and crew.replaced:
            print(f"solved after {update} updates, {crew.replaced} actors were replaced", flush=True)
            break
    crew.dismiss()


if __name__ == "__main__":
    main()
