import logging
import multiprocessing as mp
import queue

import numpy as np

from env import GridWorld

log = logging.getLogger("actors")


def act(weights, obs, rng, eps):
    if rng.random() < eps or weights is None:
        return int(rng.integers(4))
    h = np.maximum(weights[0] @ obs.ravel() + weights[1], 0)
    return int(np.argmax(weights[2] @ h + weights[3]))


def rollout(index, seed, unroll, eps, episodes, weights_in, stop):
    rng = np.random.default_rng(seed)
    env = GridWorld(seed=seed)
    obs, weights = env.reset(), None
    while not stop.is_set():
        try:
            weights = weights_in.get_nowait()
        except queue.Empty:
            pass
        chunk = {"obs": [], "action": [], "reward": [], "done": [], "actor": index}
        for _ in range(unroll):
            action = act(weights, obs, rng, eps)
            chunk["obs"].append(obs)
            obs, reward, done = env.step(action)
            chunk["action"].append(action)
            chunk["reward"].append(reward)
            chunk["done"].append(done)
            if done:
                obs = env.reset()
        chunk["last"] = obs
        chunk["obs"] = np.stack(chunk["obs"])
        episodes.put(chunk)


class ActorPool:
    """Actors play in processes of their own and send unrolls through one queue."""

    def __init__(self, n, unroll, seed, eps=0.2):
        ctx = mp.get_context("spawn")
        self.stop = ctx.Event()
        self.episodes = ctx.Queue()
        self.mailboxes = [ctx.Queue() for _ in range(n)]
        self.processes = [ctx.Process(target=rollout, args=(i, seed * 100 + i, unroll, eps, self.episodes, self.mailboxes[i],
                                                            self.stop), daemon=True) for i in range(n)]
        for p in self.processes:
            p.start()

    def publish(self, weights):
        for box in self.mailboxes:
            box.put(weights)

    def next(self):
        return self.episodes.get(timeout=60)

    def close(self):
        self.stop.set()
        for i, p in enumerate(self.processes):
            p.join()
            log.info("actor %d ended", i)
        self.episodes.close()
