"""What the data are like, and which choices of a convention matter on them."""
