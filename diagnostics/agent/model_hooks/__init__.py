"""Models beside the one that learns, and what parts of a model share: looked at now and then, never called."""
