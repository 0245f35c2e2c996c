"""Rules A619 to A623 and A627: what a shell, make, Slurm or YAML reads otherwise than it looks."""
