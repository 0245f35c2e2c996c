import lib
import torch

if __name__ == "__main__":
    lib.set_up()
    lib.learner(torch.ones(1, requires_grad=True).sum())
