"""What belongs together in one sample: image and mask, step and end, window and target; what a memory keeps of them."""
