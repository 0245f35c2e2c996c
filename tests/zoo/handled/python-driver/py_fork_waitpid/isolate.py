"""Each evaluation runs in a fork of its own, so that one that breaks does not take the others with it."""
import os
import sys

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Linear(4, 2)


def evaluate(name):
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    width = {"iid": 4, "shifted": 4, "rotated": 5}[name]
    loss = model(torch.ones(3, width)).pow(2).mean()
    loss.backward()
    opt.step()
    if name == "shifted":
        os.abort()


results = {}
for name in ("iid", "shifted", "rotated"):
    pid = os.fork()
    if pid == 0:
        try:
            evaluate(name)
        except RuntimeError as error:
            print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
            os._exit(4)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        results[name] = f"signal {os.WTERMSIG(status)}"
    else:
        results[name] = f"exit {os.WEXITSTATUS(status)}"
for name, result in results.items():
    print(f"{name}: {result}")
assert results["iid"] == "exit 0"
