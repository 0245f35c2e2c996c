"""From a failing model to the smallest module and the settings that the failure needs."""
