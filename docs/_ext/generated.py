"""The base of directives whose content is Markdown that is made of the code."""

from __future__ import annotations

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class GeneratedDirective(SphinxDirective):
    """A directive that stands for the Markdown of `make`; its argument, if any, says of what."""

    optional_arguments = 1
    final_argument_whitespace = True

    def make(self, argument: str) -> str:
        """The Markdown."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Parse the Markdown as part of the page."""
        return self.parse_text_to_nodes(
            self.make(self.arguments[0] if self.arguments else ""), allow_section_headings=True
        )
