"""Which samples each rank read: the same on ranks, in epochs, by workers. From their prints, compared outside."""
