"""Why two conventions give different numbers."""
