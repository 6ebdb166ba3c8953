from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tools.files.text_edit import MATCHERS, EditMatchError, replace_text
from tools.matching.search import SPACE, Search, Work


def test_what_is_replaced(subtests: pytest.Subtests) -> None:
    cases = [
        ("a b c", "b", "X", "a X c"),
        ("one\ntwo\nthree\n", "two\n", "", "one\nthree\n"),
        ("a\n", "a", "$& $1 \\1", "$& $1 \\1\n"),
        ("    x = 1\n    y = 2\n", "x = 1\ny = 2", "z", "z\n"),
        ("def f():\n\treturn 1  \n", "def f():\n    return 1", "g", "g\n"),
        ("\u00a0x\u00a0\n", "  x", "y", "y\n"),
        ("a\n\n  b\nc\n", "a\n\nb\n", "z\n", "z\n\nc\n"),
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("  a\r\n  b\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"),
        ("a\r\nb\nc\n", "b\nc\n", "z\n", "a\r\nz\r\n\n"),
        ("  x\n\tx \n", "x", "y", "y\n\tx \n"),
        ("  x\n\tx \n", " x\n\tx", "y", " y \n"),
        ("\tb\n\t\tb\n", "  b", "c", "\tb\nc\n"),
        # As the model was shown it.
        ("<env>\na", "&lt;env>\na", "&lt;env>\nb", "<env>\nb"),
        ("f'</system-update>'", "&lt;/system-update>", "&lt;system-update>", "f'<system-update>'"),
        ("&lt;system-update>", "&lt;system-update>", "&lt;env>", "&lt;env>"),
    ]
    for content, old, new, expected in cases:
        with subtests.test(content=content, old=old):
            assert replace_text(content, old, new) == expected


EXACT, LINES, ANCHORS, WORDS, INDENT, ESCAPES, ENDS, CONTEXT, EVERY = MATCHERS
ALIKE = "{\naaaaaaaaaaaaaaaaaaaa\n}"


def test_each_matcher_has_its_own_candidates(subtests: pytest.Subtests) -> None:
    cases = [
        (EXACT, "a b", "b", ["b"]),
        (EXACT, "a b", "c", ["c"]),
        (LINES, "\tb\n\t\tb\n", "  b", ["\tb", "\t\tb"]),
        (LINES, "x\r\n a\r\n b \r\ny\r\n", "a\r\nb\r\n", [" a\r\n b "]),
        # As like as can be within one line more; the likest of two; the first of two alike.
        (ANCHORS, "{\n  one\n  two\n}\n", "{\none\n}\n", ["{\n  one\n  two\n}"]),
        (ANCHORS, "{\nab\n}\n{\nabc\n}\n", "{\nabcd\n}", ["{\nabc\n}"]),
        (ANCHORS, "{\nabc1\n}\n{\nabc2\n}\n", "{\nabc3\n}", ["{\nabc1\n}"]),
        # 13 of 20 characters are 0.65, 12 are not.
        (ANCHORS, f"{{\n{'a' * 13}{'b' * 7}\n}}", ALIKE, [f"{{\n{'a' * 13}{'b' * 7}\n}}"]),
        (ANCHORS, f"{{\n{'a' * 12}{'b' * 8}\n}}", ALIKE, []),
        # A pair of blank lines counts as unlike.
        (ANCHORS, "{\n\n\na\n}", "{\n\n\na\n }", []),
        # Two lines more are too many for three, one is not.
        (ANCHORS, "{\na\na\n}", "{\na\n}", ["{\na\na\n}"]),
        (ANCHORS, "{\na\na\na\n}", "{\na\n}", []),
        # The nearest line that is like the last one ends a block.
        (ANCHORS, "{\na\n}\nb\n}", "{\na\n}\nb\n}x", []),
        (ANCHORS, "a\nX\nb\n", "a\nb\n", ["a\nX\nb"]),
        (ANCHORS, "a\nX\nb\n", "a\nb", []),
        (WORDS, "x =   1;  y\n", "= 1; y", ["=   1;  y"]),
        (WORDS, "  a \t b\n", "a b", ["  a \t b"]),
        (WORDS, "ab  cd", "b c", ["b  c"]),
        (WORDS, "f(a,\n\n   b)\nz\n", "f(a,\nb)\n", ["f(a,\n\n   b)"]),
        (WORDS, "f(a, b)", "f(a,\nb)", ["f(a, b)"]),
        (INDENT, "    if x:\n      y\n", "if x:\n  y", ["    if x:\n      y"]),
        (INDENT, "    if x:\n        y\n", "if x:\n  y", []),
        (INDENT, "  a\n\n  b\n", "a\n\nb", ["  a\n\n  b"]),
        (ESCAPES, 'say("a\tb")\n', 'say(\\"a\\tb\\")', ['say("a\tb")']),
        (ESCAPES, 'p("\\n")\nq\n', "p(\"\\\\n\")\nq", ['p("\\n")\nq']),
        (ESCAPES, "a\\`b\n", "a`b", ["a\\`b"]),
        (ESCAPES, "a\r\nb\r\n", "a\\nb", ["a\r\nb"]),
        (ENDS, "x a b y", "\na b  ", ["a b"]),
        (ENDS, "a\n\n a \n\n", "\na\n", ["a", "\n a \n", " a \n\n"]),
        (ENDS, "a", "a", []),
        (CONTEXT, "{\na\nXX\n}\n", "{\na\nYYYYYY\n}", ["{\na\nXX\n}"]),
        (CONTEXT, "{\na\nXX\nZZ\n}\n", "{\na\nYYYYYY\nVVVVVV\n}", []),
        (CONTEXT, "{\na\nXX\nb\n}\n", "{\na\nYYYYYY\n}", []),
        (EVERY, "a a", "a", ["a"]),
        (EVERY, "a a", "b", []),
    ]  # fmt: skip
    for matcher, content, old, candidates in cases:
        with subtests.test(content=content, old=old):
            assert list(matcher(Search(content, old, Work()))) == candidates


def test_the_matchers_are_tried_in_this_order() -> None:
    names = [matcher.__name__.removeprefix("match_") for matcher in MATCHERS]
    expected = "exact trimmed_lines block_anchors words indentation escapes trimmed_ends context"
    assert names == [*expected.split(), "every_occurrence"]


def test_the_consequences_of_tolerance(subtests: pytest.Subtests) -> None:
    cases = [
        # The new text is put in as given: its indentation is the caller's.
        ("if x:\n    a\n", "a ", "b", "if x:\nb\n"),
        # Blocks alike but for indentation are tried one by one; the first unique text is taken.
        ("    a\n  a\n", "a", "b", "b\n  a\n"),
        # A final line end that only trimmed lines match is not consumed.
        ("  a \nc\n", "a\n", "b\n", "b\n\nc\n"),
        # All Unicode blanks are blanks.
        ("a\u3000b\ufeff \nc", "a b\nc", "z", "z"),
        # A similar block, the last resort before context: nothing else has its middle line.
        ("{\n  total = sum(x)\n}\n", "{\n  total = sum(xs)\n}", "0", "0\n"),
        ('print("a")\n', 'print(\\"a\\")', "b", "b\n"),
        ("a(1,  2)\n", "a(1, 2)", "b", "b\n"),
    ]
    for content, old, new, expected in cases:
        with subtests.test(content=content):
            assert replace_text(content, old, new) == expected


def test_a_missing_text_is_said_to_be_missing(subtests: pytest.Subtests) -> None:
    cases = [
        ("a\n", "b"),
        ("a\n", "A"),
        ("", "a"),
        ("a\nb\n", "a\nc"),
        ("\u201ca\u201d", '"a"'),
        ("cafe\u0301", "caf\u00e9"),
        ("a\n", ""),
        ("", ""),
        ("a\n\n \n", "\t"),
        ("a\nb", "\n\n"),
    ]
    for content, old in cases:
        with subtests.test(content=content, old=old):
            for every in (True, False):
                with pytest.raises(EditMatchError, match="not found"):
                    replace_text(content, old, "x", replace_all=every)


@pytest.mark.parametrize(
    ("content", "old"), [("a a", "a"), ("aaa", "aa"), ("x\nx\n", "x\n"), (" x\n x\n", "x ")]
)
def test_an_ambiguous_text_is_refused(content: str, old: str) -> None:
    with pytest.raises(EditMatchError, match="more than once"):
        replace_text(content, old, "z")


@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        ("a b a", "a", "$&", "$& b $&"),
        ("aaa", "aa", "b", "ba"),
        ("  x\n  y\n  x\n  y\n", "x\ny", "z", "z\nz\n"),
        ("a\r\nb\r\na\r\n", "a\n", "c\nd\n", "c\r\nd\r\nb\r\nc\r\nd\r\n"),
    ],
)
def test_replace_all_replaces_every_occurrence(
    content: str, old: str, new: str, expected: str
) -> None:
    assert replace_text(content, old, new, replace_all=True) == expected


def test_a_span_much_larger_than_the_text_is_refused(subtests: pytest.Subtests) -> None:
    cases = [
        ("x" + " " * 400 + "\ny\n", "x\ny", False),
        ("x" + " " * 600 + "\ny\n", "x\ny", True),
        # A single line may match a longer one.
        ("x" + " " * 600 + "y\n", "x y", False),
        # Three lines more, and twice as many.
        ("f(a,\n\n\n\n b)\n", "f(a,\nb)", False),
        ("a\nb\nc\nd", "a\\nb\\nc\\nd", True),
        ("a\nb\nc", "a\\nb\\nc", False),
    ]
    for content, old, refused in cases:
        with subtests.test(content=content):
            for every in (True, False):
                try:
                    replace_text(content, old, "z", replace_all=every)
                    message = ""
                except EditMatchError as exc:
                    message = str(exc)
                assert ("much larger" in message) is refused


LINE = st.text(st.sampled_from("ab \t\\n{}\u00a0\"'\ud800é"), max_size=6)
TEXT = st.lists(LINE, max_size=8).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join(lines))
)
QUICK = settings(max_examples=200, derandomize=True, deadline=None)


@QUICK
@given(content=TEXT, old=TEXT, new=TEXT, every=st.booleans())
@example(content="", old="", new="a", every=True)
def test_only_the_matched_span_changes(content: str, old: str, new: str, every: bool) -> None:
    try:
        changed = replace_text(content, old, new, replace_all=every)
    except EditMatchError:
        return
    if every:
        return
    ends = "\r\n" if "\r\n" in content else "\n"
    put = new.replace("\r\n", "\n").replace("\n", ends)
    places = (at for at in range(len(content) + 1) if changed.startswith(content[:at] + put))
    assert any(content.endswith(changed[at + len(put) :]) for at in places)


@QUICK
@given(before=TEXT, old=TEXT, new=TEXT, after=TEXT)
def test_an_exact_match_that_is_unique_always_wins(
    before: str, old: str, new: str, after: str
) -> None:
    content = (before + old + after).replace("\r\n", "\n")
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    at = content.find(old)
    if not old or at != content.rfind(old):
        return
    expected = content[:at] + new + content[at + len(old) :]
    assert replace_text(content, old, new) == expected
    assert replace_text(content, old, new, replace_all=True) == expected
    if "\r" not in content + old + new:
        with_returns = [text.replace("\n", "\r\n") for text in (content, expected)]
        if "\n" in content:
            assert replace_text(with_returns[0], old, new) == with_returns[1]


@QUICK
@given(content=TEXT, old=TEXT)
def test_every_candidate_of_a_matcher_stands_in_the_file(content: str, old: str) -> None:
    if not old.strip(SPACE):
        return
    for matcher in MATCHERS[1:]:
        for candidate in matcher(Search(content, old, Work())):
            assert candidate in content


def quickly(content: str, old: str, *, found: bool = False) -> None:
    started = time.process_time()
    try:
        replace_text(content, old, "new")
        succeeded = True
    except EditMatchError:
        succeeded = False
    assert succeeded is found
    # A second of a calm machine, with room for one that is not.
    assert time.process_time() - started < 3


MANY = 100_000
MAZE = "".join(f"{' ' * (n % 40)}x{' ' * (n % 37)}\n" for n in range(MANY))


@pytest.mark.deep
def test_hostile_texts_end_within_a_second_or_so(subtests: pytest.Subtests) -> None:
    cases = [
        ("x" * 10_000_000, "x" * 5_000_000 + "y"),
        (" " * 10_000_000, " " * 100 + "y"),
        ("x " * 1_000_000, "x  " * 500_000 + "y"),
        ("x " * 1_000_000, "x  " * 500_000 + "x"),
        ("x\n" * MANY, "x\n" * (MANY // 2) + "y"),
        ("x\n" * MANY, " x\n" * (MANY // 2) + "x"),
        ("x\n" * MANY, "x\ny\nx"),
        ("x\n" * MANY, "x\n" + "y\n" * 1000 + "x"),
        ("{\na\n}\n" * (MANY // 3), "{\nb\n}"),
        ("{\na\n}\n" * (MANY // 3), "{\nabcd\n} "),
        ("{\n" + "a" * 990_000 + "\n}\n", "{\n" + "b" * 990_000 + "\n}\n"),
        ("\n" * (MANY - 1), "\n" * (MANY // 2) + "x"),
        (("a" + "\n" * 100) * 900, "a" + "\n" * 99 + " "),
        ("\\\n" * MANY, "\\\n" * (MANY // 2) + "n"),
        ("\\n" * 1_000_000, "\\\\n" * 500_000 + "y"),
        ("x" + " " * 1_900_000 + "x", "x" + " " * 1_000_000 + "y"),
        (MAZE, "\t x"),
        (MAZE, "x\nx\nx\n"),
        (MAZE, "x\n" * 1000),
    ]
    for content, old in cases:
        with subtests.test(old=old):
            quickly(content, old)


def test_an_exact_text_is_found_in_a_file_of_any_size() -> None:
    quickly("x" * 9_999_990 + "needle", "needle", found=True)
    quickly("\n" * 9_999_990 + "needle", "needle", found=True)
    with pytest.raises(EditMatchError, match="so large that only the exact text"):
        replace_text("\n" * 9_999_990 + "  needle", "needle \n", "x")


def test_a_large_file_is_searched_quickly() -> None:
    content = "".join(f"    line {number}\n" for number in range(90_000))
    started = time.process_time()
    changed = replace_text(content, "line 89998\nline 89999", "end")
    assert changed.endswith("line 89997\nend\n")
    assert time.process_time() - started < 5
