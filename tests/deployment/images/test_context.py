"""Which files Docker's rules leave in the build context of the images."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deployment.images.context import Pattern, files, parse

# From the tests of https://github.com/moby/patternmatcher.
MATCHES = [
    ("**", "dir/file"),
    ("**/**", "dir/file"),
    ("dir/**", "dir/dir2/file"),
    ("**/dir", "dir"),
    ("**/dir2/*", "dir/dir2/file"),
    ("**/dir2/**", "dir/dir2/dir3/file"),
    ("**file", "dir/other-file"),
    ("**/file*.txt", "dir/dir/file.txt"),
    ("a**/*.txt", "a/dir/dir/file.txt"),
    ("a/*.txt", "a/file.txt"),
    ("/a/*.txt/", "a/file.txt"),
    ("a[b-d]e", "ace"),
    ("a[^b-d]e", "aze"),
    ("[\\]a]", "]"),
    (".*", ".foo"),
    ("abc?def", "abcZdef"),
    ("a\\*b", "a*b"),
    ("a.|)$(}+{bc", "a.|)$(}+{bc"),
]
OTHERS = [
    ("**/**/*.txt2", "dir/dir/file.txt"),
    ("a/*.txt", "a/dir/file.txt"),
    ("a*b", "a/b"),
    ("a?b", "a/b"),
    ("a[b-d]e", "aae"),
    ("a[^b-d]e", "ace"),
    (".*", "foo"),
    ("abc.def", "abcZdef"),
    ("abc/**", "abc"),
    ("**/.foo", "bar.foo"),
    ("a\\*b", "acb"),
]


@pytest.mark.parametrize(("pattern", "path"), MATCHES)
def test_a_pattern_matches_a_path(pattern: str, path: str) -> None:
    assert Pattern.parse(pattern).matches(path)


@pytest.mark.parametrize(("pattern", "path"), OTHERS)
def test_a_pattern_does_not_match_another_path(pattern: str, path: str) -> None:
    assert not Pattern.parse(pattern).matches(path)


IGNORED_FILES = [
    ("", {"a", "b/c", "b/d/e", "b/d/f.test.ts"}),
    ("b", {"a"}),
    ("*", set()),
    ("*\n!b/d", {"b/d/e", "b/d/f.test.ts"}),
    ("*\n!b\n**/*.test.*", {"b/c", "b/d/e"}),
    ("b\n!b/d/e", {"a", "b/d/e"}),
    ("!b/c\nb", {"a"}),
    ("*\n!*/c", {"b/c"}),
    ("# all\n  \n  *\n ! a ", {"a"}),
]


@pytest.mark.parametrize(("text", "context"), IGNORED_FILES)
def test_the_last_pattern_that_matches_a_file_or_its_folder_decides(
    text: str, context: set[str], tmp_path: Path
) -> None:
    for path in ("a", "b/c", "b/d/e", "b/d/f.test.ts"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert set(files(tmp_path, parse(text))) == context
