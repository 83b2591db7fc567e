"""Files of answers: sheets to fill in (`sheets`), and labels, verdicts and decisions that come back (`answer_files`).

`known_items` have answers that are known. `writings` writes the texts that people and models wrote.
"""
