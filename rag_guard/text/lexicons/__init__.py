"""Word lists as data, by language."""
