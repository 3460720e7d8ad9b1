"""What the toolkits' callbacks share, by what it is about; it knows no toolkit."""
