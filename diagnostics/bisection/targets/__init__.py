"""From what the user named (a factory, a configuration, a script) to a first failing configuration."""
