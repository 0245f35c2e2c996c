"""Random search; a trial that raises is recorded as failed and the sampler goes on, as optuna's catch=(...) does."""
import random

import torch


class TrialPruned(Exception):
    pass


class Study:
    def __init__(self, seed):
        self.random, self.trials = random.Random(seed), []

    def optimize(self, objective, n_trials, catch=()):
        for number in range(n_trials):
            params = {"lr": 10 ** self.random.uniform(-3, 2), "heads": self.random.choice([1, 2, 3, 4])}
            try:
                value, state = objective(**params), "complete"
            except TrialPruned:
                value, state = None, "pruned"
            except catch as error:
                value, state = None, f"failed ({type(error).__name__})"
            self.trials.append((number, params, value, state))


def objective(lr, heads):
    torch.manual_seed(0)
    model = torch.nn.MultiheadAttention(8, heads, batch_first=True)
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    x = torch.randn(4, 5, 8)
    for step in range(8):
        loss = (model(x, x, x)[0] - x).pow(2).mean()
        if loss > 5:
            raise TrialPruned
        if torch.isnan(loss):
            raise FloatingPointError("NaN")
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


torch.set_num_threads(1)
study = Study(4)
study.optimize(objective, 14, catch=(AssertionError, FloatingPointError))
for number, params, value, state in study.trials:
    print(f"{number:2} heads {params['heads']} {state}")
assert any(state == "complete" for *_, state in study.trials)
