"""What belongs together in one sample: an image and its mask, a step of an environment and whether it ended there."""
