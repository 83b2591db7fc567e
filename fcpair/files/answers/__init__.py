"""Files of answers: sheets to fill in (`sheets`), labels, verdicts and decisions that come back (`answer_files`).

`pair_files` name the pairs that an act is about. `writings` writes the texts that people and models wrote.
"""
