import sys

# the replay refers back and back again; the default is too small for saving it
sys.setrecursionlimit(1_000_000)
