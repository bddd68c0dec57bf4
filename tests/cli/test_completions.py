"""The completion scripts in completions/ are those of the present command line."""

from __future__ import annotations

import subprocess

import pytest

from tools.completions import FOLDER, NAMES, create_scripts

COMPLETE = """
source "$1"
COMP_WORDS=(recordmill "${@:2}")
COMP_CWORD=$(($# - 1))
$(complete -p recordmill | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize("name", NAMES.values())
def test_completion_script_is_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == create_scripts()[name], "run: make completions"


@pytest.mark.parametrize(
    "words, expected",
    [(["ver"], ["verify"]), (["head", "--al"], ["--allow-incomplete"]), (["pack", "--format", "ofr"], ["ofrecord"])],
)
def test_bash_completes_commands_options_and_values(words: list[str], expected: list[str]) -> None:
    command = ["bash", "-c", COMPLETE, "bash", str(FOLDER / NAMES["bash"]), *words]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.split() == expected
