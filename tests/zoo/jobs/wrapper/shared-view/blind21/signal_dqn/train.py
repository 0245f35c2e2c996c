import random

import torch

from agent.crossing import Crossing
from agent.learner import Learner
from agent.memory import ReplayMemory

CONFIG = {
    "network": "dueling",
    "width": 256,
    "lr": 5e-4,
    "gamma": 0.98,
    "batch_size": 128,
    "target_every": 150,
    "updates": 600,
    "warmup": 500,
    "act_per_update": 4,
    "seed": 3,
}


def epsilon(update, total):
    return max(0.05, 1.0 - 1.5 * update / total)


def main():
    random.seed(CONFIG["seed"])
    torch.manual_seed(CONFIG["seed"])
    torch.set_num_threads(1)
    env = Crossing(CONFIG["seed"])
    memory = ReplayMemory(20000, env.observations, CONFIG["seed"])
    learner = Learner(env, CONFIG)
    state, episode, returns = env.reset(), 0.0, []

    def play(eps):
        nonlocal state, episode
        action = learner.act(state, eps)
        following, reward, done = env.step(action)
        memory.push(state, action, reward, following, done)
        episode += reward
        state = following
        if done:
            returns.append(episode)
            state, episode = env.reset(), 0.0

    for _ in range(CONFIG["warmup"]):
        play(1.0)
    for update in range(1, CONFIG["updates"] + 1):
        for _ in range(CONFIG["act_per_update"]):
            play(epsilon(update, CONFIG["updates"]))
        loss = learner.update(memory.sample(CONFIG["batch_size"]))
        if update % 100 == 0:
            recent = returns[-10:]
            print(f"update {update} loss {loss:.4f} return {sum(recent) / len(recent):.2f}", flush=True)


if __name__ == "__main__":
    main()
