"""What functions and layers of torch's are given: divergences, dropout outside of training, seeds, targets, shapes."""
