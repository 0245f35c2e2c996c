"""Random states of the ranks, saved beside the weights."""
import os
import pickle
import random

import torch


def random_state_path(checkpoint_dir, rank):
    return os.path.join(checkpoint_dir, f"random_states_{rank}.pkl")


def save_random_states(checkpoint_dir, rank):
    with open(random_state_path(checkpoint_dir, rank), "wb") as handle:
        pickle.dump({"python": random.getstate(), "torch": torch.get_rng_state()}, handle)


def read_random_states(checkpoint_dir, rank):
    path = random_state_path(checkpoint_dir, rank)
    states = {}
    if os.path.exists(path):
        with open(path, "rb") as handle:
            states = pickle.load(handle)
    return states


def restore_random_states(states):
    random.setstate(states["python"])
    torch.set_rng_state(states["torch"])
