"""Which samples each rank read: the same on several ranks, in each epoch, by each worker. From prints, compared outside."""
