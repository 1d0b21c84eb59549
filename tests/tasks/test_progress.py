import io

from tasks import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_pipe_sees_nothing():
    stream = io.StringIO()
    with progress.bar("takes", stream=stream) as report:
        report(1, 2)
        report(2, 2)
    assert stream.getvalue() == ""


def test_a_terminal_sees_what_is_done_of_how_much():
    stream = Terminal()
    with progress.bar("takes", stream=stream) as report:
        report(0, 20)
        report(20, 20)
    assert "takes" in stream.getvalue()
    assert "20" in stream.getvalue()
