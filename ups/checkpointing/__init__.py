"""Checkpoints that --resume goes on from: sharded over the ranks, written beside the training, whole or not there.

layout.py    the folder on disk: names, manifest with checksums, what is whole, what is pruned
shards.py    which rank holds which part, its copy, and the files of torch.distributed.checkpoint
saver.py     one checkpoint after the other in a thread of each rank (worker.py), and what all ranks agree on about them
state.py     what of a training stage goes in, and how it comes back on any number of ranks
pruning.py   which go once a new one is there
newest.py    the newest checkpoint that is whole
export.py    one plain torch file from all shards

`ups.checkpoint` beside this folder reads and writes the plain torch files: best.pt and autoencoder.pt.
"""
