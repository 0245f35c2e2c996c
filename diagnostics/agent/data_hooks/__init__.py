"""What a rank trains on: prints of its batches, facts of its loaders, who shares its gradients. Read, never changed."""
