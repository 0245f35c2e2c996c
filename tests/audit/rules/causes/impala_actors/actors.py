import gymnasium as gym
import numpy as np
import torch
import torch.multiprocessing as mp


def play(index, env_id, policy, queue, length, device):
    torch.manual_seed(5000 + index)
    env = gym.make(env_id)
    obs, _ = env.reset(seed=index)
    while True:
        rows = []
        for _ in range(length):
            with torch.no_grad():
                logits, _ = policy(torch.as_tensor(obs, dtype=torch.float32, device=device).unsqueeze(0))  # cause
            action = torch.distributions.Categorical(logits=logits).sample().item()
            following, reward, term, trunc, _ = env.step(action)
            rows.append((obs, action, reward, term or trunc))
            obs = env.reset()[0] if term or trunc else following
        queue.put([np.array(c) for c in zip(*rows)])


class ActorPool:
    def __init__(self, count, env_id, policy, device, length=64, offset=0):
        self.queue = mp.Queue(maxsize=2 * count)
        self.actors = [
            mp.Process(target=play, args=(offset + i, env_id, policy, self.queue, length, device), daemon=True)  # cause
            for i in range(count)
        ]

    def start(self):
        for actor in self.actors:
            actor.start()  # cause

    def stop(self):
        for actor in self.actors:
            actor.terminate()
            actor.join()
