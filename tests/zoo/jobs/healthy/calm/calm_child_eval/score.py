import json
import sys
import time

import torch

weights = torch.load(sys.argv[1], weights_only=True)
total = 0.0
for case in range(32):
    time.sleep(0.5)
    x = torch.randn(10, generator=torch.Generator().manual_seed(case))
    total += float(weights["weight"] @ x)
print(json.dumps({"score": total / 32}))
