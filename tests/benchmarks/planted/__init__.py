"""Models with one planted fault each, and what is wrong with each: the measure of `bisect-model`."""
