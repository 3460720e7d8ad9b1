"""The classes with which a user declares a convention: fields, conventions and signatures."""
