"""Expanding templates into 40,000 items and more, and scoring a million answers: whole commands, from files to JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import SEED, Figure, alternate, column, job, show

REPETITIONS = 3
N_ITEMS, N_ANSWERS, N_TEMPLATES = 40_000, 1_000_000, 200
EXPAND_S, SCORE_S = 5.0, 10.0


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Write templates and answers, then time the commands; `folder` takes some 1.5 GB for a while."""
    templates, answers = folder / "templates.toml", folder / "answers.jsonl"
    job("benchmarks.asking:prepare", templates, answers)
    jobs = {
        "expand": lambda: _timed("items", "expand", templates, "--out", folder / "items.jsonl"),
        "score": lambda: _timed("bias", "score", answers, "--as", "bbq", "--answer", "model"),
    }
    results = alternate(jobs, repetitions)
    seconds = {name: show(f"{name}, time", column(found), " s") for name, found in results.items()}
    for name, found in results.items():
        show(f"{name}, peak memory", column(found, "peak_mb"), " MB")
    said = results["score"][0]["said"]
    return [
        Figure("asking", "items", int(results["expand"][0]["said"]["items"]), "at least", N_ITEMS),
        Figure("asking", "expanding them", seconds["expand"], "at most", EXPAND_S, " s"),
        Figure("asking", "answers", int(said["n"]), "exactly", N_ANSWERS),
        Figure("asking", "scoring them", seconds["score"], "at most", SCORE_S, " s"),
    ]


def _timed(*words: str | Path) -> dict[str, Any]:
    """Run a command to its end: its seconds, its peak memory, and what it printed as JSON."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "fcpair", *map(str, words), "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))} ended with {process.returncode}")
    return {"seconds": time.perf_counter() - start, "peak_mb": usage.ru_maxrss / 1000, "said": json.loads(printed)}


def prepare(templates: str, answers: str) -> dict[str, Any]:
    """Job: write templates of 40,000 items, and answers as BBQ released them, of which a hundredth cannot be read."""
    start = time.perf_counter()
    Path(templates).write_text("".join(map(_template, range(N_TEMPLATES))), "utf-8")
    import numpy as np

    rng = np.random.default_rng(SEED)
    options = ("the owl", "the lark", "not said", "that depends")
    said = rng.choice(4, N_ANSWERS, p=[0.4, 0.25, 0.34, 0.01])
    with Path(answers).open("w", encoding="utf-8") as file:
        for at, which in enumerate(said.tolist()):
            file.write(_answer(at, options[which]) + "\n")
    return {"seconds": time.perf_counter() - start}


def _template(at: int) -> str:
    slots = {"A": ("owls", "the owl"), "B": ("larks", "the lark")}
    fillers = {name: [f"{what} {n}" for n in range(5)] for name, (_, what) in slots.items()}
    told = "".join(
        f'[template.slots.{name}]\nfillers = {json.dumps(fillers[name])}\ngroup = "{group}"\n'
        for name, (group, _) in slots.items()
    )
    return (
        f'[[template]]\nid = "t{at}"\ncategory = "c{at % 10}"\nstereotyped = ["owls"]\n'
        f'ambiguous = "One day {{A}} and {{B}} met at place {at}."\ndisambiguating = "Then {{A}} was late."\n'
        'negative = "Who was late?"\nnon_negative = "Who was on time?"\nculprit = "{A}"\nother = "{B}"\n'
        f'unknown = ["It is not said"]\nswap = ["A", "B"]\n{told}\n'
    )


def _answer(at: int, said: str) -> str:
    template, is_clear, is_negative = at % 400, at // 400 % 2, at // 800 % 2
    asked = {
        "category": f"c{template % 20}",
        "question_index": str(template),
        "question_polarity": "neg" if is_negative else "nonneg",
        "context_condition": "disambig" if is_clear else "ambig",
        "answer_info": {"ans0": ["owl", "owls"], "ans1": ["lark", "larks"], "ans2": ["unknown", "unknown"]},
        "additional_metadata": {"stereotyped_groups": ["owls"]},
        **{"ans0": "the owl", "ans1": "the lark", "ans2": "not said"},
        "label": (0 if is_negative else 1) if is_clear else 2,
        "model": said,
        "context": f"One day the owl and the lark met at place {template}, number {at}.",
    }
    return json.dumps(asked)
