import logging
import multiprocessing as mp

import torch

log = logging.getLogger("rollouts")


def _play(policy, world, episodes, seed, box):
    g = torch.Generator().manual_seed(seed)
    wins = total = 0
    with torch.no_grad():
        for _ in range(episodes):
            obs, best = world.batch(2048, g)
            wins += (policy(obs).argmax(1) == best).sum().item()
            total += len(obs)
    box.send(wins / total)
    box.close()


class RolloutPool:
    """Evaluates a frozen copy of the policy beside the learner, in processes of their own."""

    def __init__(self, world, workers=2, episodes=4):
        self.world, self.workers, self.episodes = world, workers, episodes
        self.ctx = mp.get_context("fork")

    def evaluate(self, policy, seed):
        pipes, crew = [], []
        for w in range(self.workers):
            ours, theirs = self.ctx.Pipe(duplex=False)
            p = self.ctx.Process(target=_play, args=(policy, self.world, self.episodes, seed + w, theirs), daemon=True)
            p.start()
            theirs.close()
            pipes.append(ours)
            crew.append(p)
        results = [pipe.recv() for pipe in pipes]
        for p in crew:
            p.join()
        return sum(results) / len(results)
