"""Profile judged queries: their traits, and the effect of each field of a convention."""
