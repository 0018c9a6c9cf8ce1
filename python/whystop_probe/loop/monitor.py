"""Watches the lines of a loop's code with sys.monitoring (Python 3.12 and later): free where nothing happens."""

import sys

from whystop_probe.core.guard import quiet

_TOOL_NAME = "whystop"
_ANY_NUMBER = 1 << 40


class Monitor:
    """Local LINE and PY_RETURN events on the code of the nest's loops. Lines that cannot matter are switched off when
    they are first met."""

    def __init__(self):
        self._tool = None
        self._exits = {}  # id of a code object -> Exits, which hold it
        self._lines = {}  # id of a code object -> lines that stay on

    def attach(self, exits):
        if self._tool is None and not self._take_tool():
            return
        events = sys.monitoring.events
        for code in exits.codes():
            self._exits[id(code)] = exits
            self._lines[id(code)] = _lasting_lines(exits.by_code[id(code)], exits.nest)
            sys.monitoring.set_local_events(self._tool, code, events.LINE | events.PY_RETURN)

    def event(self, kind, frame):
        """Nothing to do: the interpreter tells by itself."""

    def steps_to_pass(self):
        return _ANY_NUMBER

    def _take_tool(self):
        monitoring = sys.monitoring
        for number in (4, 3, 5, 2, 1, 0):  # 0 to 2 and 5 have names that others look for first.
            if monitoring.get_tool(number) is None:
                monitoring.use_tool_id(number, _TOOL_NAME)
                self._tool = number
                monitoring.register_callback(number, monitoring.events.LINE, self._on_line)
                monitoring.register_callback(number, monitoring.events.PY_RETURN, self._on_return)
                return True
        return False

    def _on_line(self, code, line):
        exits = self._exits.get(id(code))
        if exits is None:
            return sys.monitoring.DISABLE
        was_running = exits.running()
        self._see(exits, sys._getframe(1), code, line)
        if line in self._lines[id(code)]:
            return None
        # Outside the loops a line matters while they run: it is where they have been left.
        outside = not any(level.loop.holds(line) for level in exits.by_code.get(id(code), ()))
        return None if outside and was_running else sys.monitoring.DISABLE

    @quiet
    def _see(self, exits, frame, code, line):
        if line in exits.handler_lines:
            error = sys.exc_info()[1]
            if error is not None:
                _tell_way(exits, error)
        exits.on_line(frame, code, line)

    def _on_return(self, code, offset, value):
        exits = self._exits.get(id(code))
        if exits is not None:
            self._see_return(exits, sys._getframe(1), code)

    @quiet
    def _see_return(self, exits, frame, code):
        exits.on_return(frame, code)


def _tell_way(exits, error):
    """The lines of the nest's code that the exception passed, innermost first."""
    passed, traceback = [], error.__traceback__
    while traceback is not None:
        if id(traceback.tb_frame.f_code) in exits.by_code:
            passed.append((traceback.tb_frame.f_code, traceback.tb_lineno))
        traceback = traceback.tb_next
    for code, line in reversed(passed):
        exits.on_error(error, code, line)


def _lasting_lines(levels, nest):
    """Lines whose events stay on: leaving statements, `except` bodies, and headers that a pending `if x: break` needs."""
    lines = set()
    for level in levels:
        lines.update(leaving.line for leaving in level.loop.exits)
        lines.update(body_line for body_line, _, _ in level.loop.handlers)
        if level is not nest.levels[-1] or level.loop.exits:
            lines.add(level.loop.line)
    return lines
