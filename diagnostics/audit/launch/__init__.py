"""Rules A6xx, but for those of signals: launch lines, containers, limits and environment."""
