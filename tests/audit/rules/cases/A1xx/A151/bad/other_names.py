import datetime as dt

from torch.distributed import init_process_group

init_process_group("gloo")
LIMIT = dt.timedelta(minutes=3)
