"""Evidence windows: the pieces of a document that are compared with the answer, whatever format it has."""

from rag_guard.text.windows.document import find_windows
from rag_guard.text.windows.window import Field, Window, split_identifier

__all__ = ["Field", "Window", "find_windows", "split_identifier"]
