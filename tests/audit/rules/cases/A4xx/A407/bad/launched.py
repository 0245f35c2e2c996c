import torch
from accelerate import notebook_launcher

from training import train

print(torch.zeros(1).cuda().device)

notebook_launcher(train, num_processes=2)
