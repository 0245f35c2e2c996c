"""Before the time limit the scheduler sends SIGUSR1; 85 asks it to queue the job again."""
import os
import signal
import sys

import torch

REQUEUE = 85
leave = False


def on_signal(number, frame):
    global leave
    leave = True


signal.signal(signal.SIGUSR1, on_signal)
model = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    loss = model(torch.ones(2, 4)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step == 7:
        os.kill(os.getpid(), signal.SIGUSR1)
    if leave:
        torch.save({"model": model.state_dict(), "step": step + 1}, "requeue.pt")
        print(f"saved at step {step + 1}, asking to be queued again")
        sys.exit(REQUEUE)
