import os
import sys

if "--distributed" in sys.argv:
    rank = int(os.environ["RANK"])
