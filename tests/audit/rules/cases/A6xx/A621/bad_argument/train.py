import sys
from pathlib import Path

import torch
from yaml import safe_load

if __name__ == "__main__":
    given = safe_load(Path(sys.argv[1]).read_text())
    torch.optim.SGD(torch.nn.Linear(8, 8).parameters(), **{"lr": given["lr"]})
