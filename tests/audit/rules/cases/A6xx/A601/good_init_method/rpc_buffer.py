import os

import torch.distributed.rpc as rpc

where = os.environ.get("MEET", "tcp://localhost:0")
method = "tcp://localhost:0"
os.environ["MASTER_ADDR"] = "localhost"
os.environ["MASTER_PORT"] = "29500"
options = rpc.TensorPipeRpcBackendOptions(num_worker_threads=16, init_method=method)
rpc.init_rpc("trainer", rank=0, rpc_backend_options=options)
