"""Find the conventions that give a published number."""
