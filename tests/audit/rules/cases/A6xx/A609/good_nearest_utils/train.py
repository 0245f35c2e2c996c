import os

from utils import set_up

set_up()
rank = int(os.environ["RANK"])
