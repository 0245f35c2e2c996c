import os
import time
from datetime import timedelta

from torch.distributed import TCPStore

store = TCPStore("127.0.0.1", int(os.environ["COORDINATOR_PORT"]), is_master=True, wait_for_workers=False,
                 timeout=timedelta(minutes=5))
time.sleep(20)  # the scheduler decides on the difficulty
store.set("curriculum", "0.25")
store.wait(["done/0", "done/1"], timedelta(minutes=5))
time.sleep(1)
