"""Rules A521, A522 and A6xx, but for those of signals and scripts: launch lines, containers, limits and environment."""
