import signal

import torch

STOP = False


def stop(number, frame):
    global STOP
    STOP = True


signal.signal(signal.SIGTERM, stop)
model = torch.nn.Linear(8, 8)
while not STOP:
    model(torch.zeros(4, 8)).mean().backward()
torch.save(model.state_dict(), "last.pt")
