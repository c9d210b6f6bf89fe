"""Detectors: each reads analysed examples and gives one risk per answer token (see :mod:`.base`)."""
