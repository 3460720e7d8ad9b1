"""The parts of callbacks that all toolkits share; nothing here imports a toolkit."""
