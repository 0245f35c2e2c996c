"""What a trained checkpoint is used for beyond one step: ensembles, rollouts in files, pictures that move."""
