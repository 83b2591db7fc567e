"""Files of answers: sheets to fill in (`sheets`), labels, verdicts and decisions that come back (`answer_files`).

`writings` writes the texts that people and models wrote.
"""
