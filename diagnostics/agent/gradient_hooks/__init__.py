"""Whether a step uses what backward passes leave in the gradients: one parameter of each optimizer is watched."""
