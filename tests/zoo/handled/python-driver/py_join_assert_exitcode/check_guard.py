"""Checks that our NaN guard really ends a trainer: a child trains on a poisoned batch and must exit with 1."""
import torch
import torch.multiprocessing as mp


def train(poison):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = torch.nn.Linear(4, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        x = torch.randn(8, 4)
        if poison and step == 2:
            x[3, 1] = float("nan")
        loss = model(x).pow(2).mean()
        if torch.isnan(loss):
            raise FloatingPointError(f"NaN loss at step {step}")
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    p = mp.Process(target=train, args=(True,))
    p.start()
    p.join()
    assert p.exitcode == 1, p.exitcode
    q = mp.Process(target=train, args=(False,))
    q.start()
    q.join()
    assert q.exitcode == 0, q.exitcode
    print("the guard works")
