import os

from submitit.helpers import TorchDistributedEnvironment

TorchDistributedEnvironment().export()
rank = int(os.environ["RANK"])
