"""Shell, Docker, YAML and launcher command lines as programs."""
