import os
import signal

import torch

signal.signal(signal.SIGTERM, lambda *_: None)
model = torch.nn.Linear(8, 8)
model(torch.zeros(4, 8)).mean().backward()
os.kill(os.getppid(), signal.SIGUSR1)  # SIGUSR1 tells the parent
