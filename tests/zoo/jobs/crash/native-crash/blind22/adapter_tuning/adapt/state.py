"""Reading and writing of the tuning state."""
import torch


def read_state(path, model):
    # the backbone is large and mostly untouched: leave it in the page cache, shared by the ranks of a node
    state = torch.load(path, mmap=True, weights_only=True)
    model.load_state_dict(state["model"], assign=True)
    return state["round"]


def write_state(path, model, done):
    torch.save({"round": done, "model": model.state_dict()}, path)
