"""The methods section of a paper, written from the run log of a study."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fcpair.errors import InputError
from fcpair.files.tables.tabular import replace_file
from fcpair.params import MethodsFormat
from fcpair.report.citations import as_latex, bibtex, cited_keys, escape_latex, reference_line
from fcpair.report.methods import Section, write_sections
from fcpair.steps.base.context import StudyContext
from fcpair.steps.release.noted_figures import figure_notes
from fcpair.store.oversight import runs

SUFFIXES: dict[MethodsFormat, str] = {"markdown": ".md", "latex": ".tex"}
BIB = "methods.bib"


@dataclass(frozen=True)
class Methods:
    """The paragraphs of a methods section, as Markdown and as LaTeX, and the references that they cite.

    `notes` say what the log lacks, or has from before the newest answers: a sentence each, without a full stop.
    """

    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def keys(self) -> list[str]:
        """The keys of the references, in the order in which they are cited."""
        return cited_keys(section.text for section in self.sections)

    @property
    def markdown(self) -> str:
        """The paragraphs in Markdown, with citations as Pandoc reads them and a list of references."""
        parts = [f"## {heading}\n\n{text}\n" for heading, text in self.sections]
        lines = [f"- [@{key}] {reference_line(key)}" for key in self.keys]
        references = ["\n".join(["## References", "", *lines, ""])] if lines else []
        return "\n".join([*parts, *references])

    @property
    def latex(self) -> str:
        """The paragraphs in LaTeX, to be included in a document that has `methods.bib` as a bibliography."""
        return "\n".join(
            f"\\paragraph{{{escape_latex(heading)}.}}\n{as_latex(text)}\n" for heading, text in self.sections
        )

    @property
    def bib(self) -> str:
        """The references in BibTeX."""
        return bibtex(self.keys)

    def text(self, form: MethodsFormat = "markdown") -> str:
        """The paragraphs in a format."""
        return self.latex if form == "latex" else self.markdown

    def write(self, folder: str | Path, form: MethodsFormat = "markdown") -> list[Path]:
        """Write `methods.md` or `methods.tex`, and `methods.bib`, into a folder, which is made if it does not exist.

        Raises InputError where there is a file in its place.
        """
        place = Path(folder)
        if place.exists() and not place.is_dir():
            raise InputError(f"{place}: there is a file of that name; expected a folder")
        place.mkdir(parents=True, exist_ok=True)
        contents = {place / f"methods{SUFFIXES[form]}": self.text(form), place / BIB: self.bib}
        for path, content in contents.items():
            with replace_file(path) as temporary:
                temporary.write_text(content, "utf-8", newline="\n")
        return list(contents)


def write_methods(study: StudyContext) -> Methods:
    """Write the methods section of a paper from the run log: what was done, each number, and the references.

    It changes nothing. No number in it comes from anywhere but the log; what that lacks is in `notes`.
    """
    with study._store.read() as tx:
        return Methods(tuple(write_sections(runs.runs(tx))), tuple(figure_notes(tx)))
