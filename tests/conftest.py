"""Being here puts this folder on the import path: every test may `import fakes`."""
