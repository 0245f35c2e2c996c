import sys

# long right-branching sentences
sys.setrecursionlimit(1_000_000)
