"""Being here puts this folder on the import path: tests below may import its helpers."""
