"""The parts of one training step that are not the loop: precision, accumulation, micro-batches, spikes, compilation."""
