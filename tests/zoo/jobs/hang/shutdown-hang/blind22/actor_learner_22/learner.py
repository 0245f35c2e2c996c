"""Actor-learner policy gradient on a toy corridor."""
import multiprocessing as mp
import time

import numpy as np
import torch

from corridor import Corridor
from policy import Policy


def act(seed, outbox, stop, weights):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    policy = Policy()
    env = Corridor(rng)
    while not stop.is_set():
        policy.load_flat(np.frombuffer(weights, dtype=np.float32))
        observations, actions, rewards = env.rollout(policy, steps=200)
        outbox.put((seed, observations, actions, rewards))


def main(actors=2, updates=40):
    ctx = mp.get_context("spawn")
    policy = Policy()
    weights = ctx.Array("f", policy.flat(), lock=False)
    outbox, stop = ctx.Queue(), ctx.Event()
    crew = [ctx.Process(target=act, args=(10 + i, outbox, stop, weights)) for i in range(actors)]
    for p in crew:
        p.start()
    opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
    began = time.time()
    for update in range(updates):
        seed, observations, actions, rewards = outbox.get()
        loss = policy.loss(torch.from_numpy(observations), torch.from_numpy(actions), torch.from_numpy(rewards))
        opt.zero_grad()
        loss.backward()
        opt.step()
        np.frombuffer(weights, dtype=np.float32)[:] = policy.flat()
        time.sleep(0.05)  # the real learner waits for its replica group here
        if update % 10 == 0:
            print(f"update {update:3d} return {rewards.sum():7.2f} from actor {seed}", flush=True)
    stop.set()
    for p in crew:
        p.join()
    torch.save(policy.state_dict(), "policy.pt")
    print(f"saved policy.pt after {time.time() - began:.0f} s")


if __name__ == "__main__":
    main()
