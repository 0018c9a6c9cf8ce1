"""Variables of the training loop that keep the graphs of earlier steps alive: `total += loss` and the like."""

import weakref

_DEPTH_TOLD_MIN = 16
_DEPTH_MAX = 256
_NAMES_MAX = 200
_GROWTH_MIN = 0.5  # Items a step. What is collected within one step, such as the moves of an episode, begins anew with the next.
_STEPS_APART = 8


class RetainedGraphs:
    """Looks at the variables of the loop's frames now and then. Holds no tensor."""

    def __init__(self, training):
        self._training = training
        self._told = {}
        self._lists = {}  # name -> (a weak reference to its last item, length, step) at an earlier look
        self._sums = {}  # name -> (depth, step) at an earlier look

    def look(self, frame):
        for name, value in list(frame.f_locals.items())[:_NAMES_MAX]:
            kind = type(value)
            if kind.__name__ == "Tensor" and kind.__module__ == "torch" and value.grad_fn is not None and value.numel() == 1:
                depth = _sum_depth(value.grad_fn)
                if self._deepens(name, depth):
                    self._tell(name, depth, frame.f_code)
            elif kind is list and len(value) > _DEPTH_TOLD_MIN:
                last = value[-1]
                if type(last).__name__ == "Tensor" and type(last).__module__ == "torch" and last.grad_fn is not None and self._grows(name, value):
                    self._tell(name, len(value), code=frame.f_code, how="list")

    def _deepens(self, name, depth):
        """Whether it has grown with the steps since an earlier look: a sum over all weights, or all terms, is as deep in every step."""
        step = self._training.step
        known, then = self._sums.setdefault(name, (depth, step))
        if depth < known:
            self._sums[name] = (depth, step)  # Begun anew.
        return step - then >= _STEPS_APART and depth >= min(_DEPTH_MAX, known + _GROWTH_MIN * (step - then))

    def _grows(self, name, items):
        """Whether it has grown with the steps since an earlier look. A list that is made anew may lie where the old one lay: what stood in it tells."""
        step = self._training.step
        known, length, then = self._lists.get(name, (None, 0, step))
        if known is None or len(items) < length or known() is not items[length - 1]:
            self._lists[name] = (weakref.ref(items[-1]), len(items), step)
            return False
        return step - then >= _STEPS_APART and len(items) - length >= _GROWTH_MIN * (step - then)

    def _tell(self, name, depth, code, how="sum"):
        if depth < _DEPTH_TOLD_MIN or depth < 2 * self._told.get(name, 0):
            return
        self._told[name] = depth
        self._training.channel.observe(
            "retained-graph", self._training.step, variable=name, how=how, depth=depth, file=code.co_filename, function=code.co_name
        )


def _sum_depth(node):
    """How many additions in a row made this value."""
    depth = 0
    while node is not None and depth < _DEPTH_MAX and node.name() == "AddBackward0":
        depth += 1
        node = node.next_functions[0][0]
    return depth
