"""Which conventions give a published number."""
