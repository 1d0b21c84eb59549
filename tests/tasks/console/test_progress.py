import io

from ricochet.tasks.console import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_pipe_sees_one_line_a_step_without_control_characters():
    stream = io.StringIO()
    with progress.bar("takes", stream=stream) as report:
        report(1, 2)
        report(2, 2)
    assert stream.getvalue() == "takes ...\n"


def test_what_a_file_is_called_writes_no_line_and_no_escape():
    stream = io.StringIO()
    with progress.bar("a\x1b]0;title\x07\nrepaired: b", stream=stream):
        progress.announce("found \x1b[31m", stream=stream)
    assert stream.getvalue() == "a\\x1b]0;title\\x07 repaired: b ...\nfound \\x1b[31m\n"


def test_a_terminal_sees_what_is_done_of_how_much():
    stream = Terminal()
    with progress.bar("takes", stream=stream) as report:
        report(0, 20)
        report(20, 20)
    assert "takes" in stream.getvalue()
    assert "20" in stream.getvalue()


def test_parts_make_the_whole_and_no_work_is_done_work():
    told = []
    for number in range(4):
        within = progress.part(lambda *row: told.append(row), number, 4)
        within(0, 0)
        within(1, 2)
        within(2, 2)
    shares = [done / total for done, total in told]
    assert shares == [n / 8 for n in (0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8)]
