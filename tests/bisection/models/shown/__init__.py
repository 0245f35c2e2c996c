"""A small project in several modules, of which one module fails."""
