"""How this process ends, as far as Python can know: uncaught exceptions, fatal signals, stacks on request."""

import os
import sys

_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_FRAMES_MAX = 40
_MESSAGE_MAX = 2000
_TEXT_MAX = 40000  # Of a message that holds another process's traceback.
_ASKING_SIGNALS = (15, 2, 1, 10, 12, 24)  # TERM, INT, HUP, USR1 and USR2 (schedulers send them ahead of a limit), XCPU.
_IN_WORKER = ("DataLoader worker process", "_enqueuer_generator")  # In the words of two frameworks.
_STACK_SIGNAL_OFFSET = 7  # A real-time signal that nothing else is known to use; taken only while it is unhandled.
_ended = False  # An exception was told as the end of this process.


def watch_uncaught():
    """Wraps sys.excepthook. Whatever hook the user sets later replaces ours, as it would replace the default."""
    import _thread

    original = sys.excepthook
    main = _thread.get_ident()

    def excepthook(kind, error, traceback):
        try:
            original(kind, error, traceback)
        finally:
            _report_quietly(kind, error, traceback, True)
            if kind is KeyboardInterrupt and _thread.get_ident() == main and _is_over(sys._getframe()):
                _remember_interrupt()

    sys.excepthook = excepthook


def _is_over(frame):
    """No module's code is running any more: the interpreter itself has called the hook, and not the program by hand."""
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            return False
        frame = frame.f_back
    return True


def _remember_interrupt():
    """Python dies of SIGINT if the last program text that it evaluated ended with a KeyboardInterrupt. An import of ours may have evaluated
    some since (namedtuple does): then it would exit with 1."""
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        pass


def watch_threads():
    """Exceptions that end a thread: the process lives on, often without its purpose."""
    import threading

    original = threading.excepthook

    def excepthook(arguments):
        try:
            original(arguments)
        finally:
            _report_quietly(arguments.exc_type, arguments.exc_value, arguments.exc_traceback, False)

    threading.excepthook = excepthook


def _report_quietly(kind, error, traceback, ended_process):
    """Behind the original hook: an exception may have a __str__ of the user's, which the user's own print meets first. All that it
    raises when asked again, and a second Ctrl-C, ends here: the process is over and has its status."""
    try:
        report(kind, error, traceback, ended_process)
    except BaseException:
        pass


def report(kind, error, traceback, ended_process=True):
    """Writes the "exception" observation of docs/wire.md."""
    tell(described(kind, error, traceback), ended_process)


def tell(described_error, ended_process):
    global _ended
    from whystop_probe.core import channel

    _ended = _ended or ended_process
    shared = channel.shared()
    shared.open()
    shared.observe("exception", ended_process=ended_process, **described_error)


def ended_by_exception():
    """Whether this process is over because of an exception, by the interpreter's own word or as it was told here."""
    return _ended or getattr(sys, "last_value", None) is not None


def described(kind, error, traceback):
    """The attributes of an exception, in words: none of them keeps it alive."""
    first = error
    for _ in range(20):
        inner = first.__cause__ or (None if first.__suppress_context__ else first.__context__)
        if inner is None:
            break
        first = inner
    message = _text(error)
    first_type = _name(type(first)) if first is not error else None
    first_message = _text(first) if first is not error else None
    frames = frames_text(traceback)
    origin = _origin_in_text(_whole_text(first))
    if origin is not None:  # Raised in another process, a worker or a kernel; its traceback came as text.
        first_type, first_message = origin[0], origin[1]
        frames = "\n".join([frames, *origin[2]])
    return {
        "type": _name(kind),
        "message": message,
        "first_type": first_type,
        "first_message": first_message,
        "frames": frames,
        "in_worker": any(mark in message or mark in frames for mark in _IN_WORKER),
    }


def frames_text(traceback):
    """One line a frame, outermost first: file, line, function, 1 if the user's own, source."""
    rows = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        rows.append((code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    if len(rows) > _FRAMES_MAX:
        rows = rows[: _FRAMES_MAX // 2] + rows[-_FRAMES_MAX // 2 :]
    lines = []
    for name, line, function in rows:
        source = _source_line(name, line).strip().replace("\t", " ")[:200]
        lines.append("\t".join((name, str(line), function, "1" if users_own(name) else "0", source)))
    return "\n".join(lines)


def _source_line(name, number):
    """What linecache knows where the program has imported it (cells of a notebook have no file), else from the file."""
    known = sys.modules.get("linecache")
    if known is not None:
        return known.getline(name, number)
    try:
        with open(name, encoding="utf-8", errors="replace") as file:
            for at, line in enumerate(file, start=1):
                if at == number:
                    return line
    except (OSError, ValueError):
        pass
    return ""


_FRAME = r'^ *File "(.+?)", line (\d+), in (.+)$'
_ENDING = r"^([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Iteration)\w*)(?:: (.*))?$"


def _origin_in_text(text):
    """(type, message, frames) of the last traceback that stands in a message: of mp.spawn, pools, loaders and notebooks."""
    if "Traceback (most recent call last)" not in text:
        return None
    import re

    frames, ending, lines = [], None, text.splitlines()
    for number, line in enumerate(lines):
        found = re.match(_FRAME, line)
        if found:
            source = lines[number + 1].strip()[:200] if number + 1 < len(lines) else ""
            frames.append("\t".join((found[1], found[2], found[3], "1" if users_own(found[1]) else "0", source.replace("\t", " "))))
        else:
            found = re.match(_ENDING, line)
            ending = (found[1], (found[2] or "")[:_MESSAGE_MAX]) if found else ending
    return (ending[0], ending[1], frames[-_FRAMES_MAX:]) if ending is not None else None


def _whole_text(error):
    try:
        return _without_colours(str(error))[:_TEXT_MAX]
    except Exception:
        return ""


def users_own(name):
    """Not from an installed package, the standard library or a frozen module."""
    library = os.path.dirname(os.__file__)
    return not (
        name.startswith(("<frozen", library))
        or f"{os.sep}site-packages{os.sep}" in name
        or f"{os.sep}dist-packages{os.sep}" in name
        or name.startswith(_OWN_FOLDER)
    )


def _name(kind):
    module = getattr(kind, "__module__", "")
    return kind.__qualname__ if module in ("builtins", "__main__", "") else f"{module}.{kind.__qualname__}"


def _without_colours(text):
    """Notebooks put a coloured traceback into the message."""
    pieces = text.split("\x1b[")
    for index, piece in enumerate(pieces[1:], start=1):
        rest = piece.lstrip("0123456789;")
        pieces[index] = rest[1:] if rest[:1].isalpha() and rest[:1].isascii() else "\x1b[" + piece
    return "".join(pieces)


def _text(error):
    try:
        return _without_colours(str(error))[:_MESSAGE_MAX]
    except Exception:
        return ""


def watch_senders():
    """Who asks this process to end, and when, whether or not the program handles it. What it was started to ignore is left."""
    import signal

    from whystop_probe.core.tap import tap

    for number in _ASKING_SIGNALS:
        _watch_sender(number)
    tap(signal.signal, after=_handler_changed)


def _watch_sender(number):
    from whystop_probe.core import channel, ring

    if ring.native is not None:
        ring.native.watch_signal(channel.shared().writer, int(number))


def _handler_changed(result, number, *rest):
    """The program installed a handler, and ours below it is gone."""
    try:
        if number in _ASKING_SIGNALS:
            _watch_sender(number)
    except Exception:
        pass


def watch_fatal_signals():
    """Python stacks at a fatal signal, and on the supervisor's request, in a file next to the ring."""
    import faulthandler
    import signal

    directory = os.environ.get("WHYSTOP_RING_DIR")
    if not directory:
        return
    path = os.path.join(directory, f"{os.getpid()}.stacks")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    if not faulthandler.is_enabled():
        faulthandler.enable(file=fd)
    number = signal.SIGRTMIN + _STACK_SIGNAL_OFFSET
    stack_signal = None
    if signal.getsignal(number) is signal.SIG_DFL:
        # chain=False: chaining to the default action would end the process.
        faulthandler.register(number, file=fd, all_threads=True, chain=False)
        stack_signal = int(number)
    from whystop_probe.core import channel

    channel.shared().observe("stacks", file=os.path.basename(path), signal=stack_signal)
