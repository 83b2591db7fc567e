"""The lead's pages: one module for each page or act."""
