"""What a framework that trains by itself calls at every batch. Here in Python for where the extension is missing; _feed.c is the same."""

from math import isfinite

from whystop_probe.core import ring
from whystop_probe.core.guard import quiet


class RunningMean:
    """Frameworks log the mean over the epoch so far; the difference of two is the batch's own loss."""

    def __init__(self, samples_until=float):
        self._weight = 0.0
        self._sum = 0.0
        self._batches = 0
        self._samples_until = samples_until  # (batches) -> samples of so many first batches of the epoch

    def loss_of_batch(self, mean, batches=1):
        before = self._samples_until(self._batches)
        self._batches += batches
        weight = self._samples_until(self._batches) - before
        total = self._weight + weight
        loss = (mean * total - self._sum) / weight if weight else mean
        self._weight, self._sum = total, mean * total
        return loss if isfinite(loss) else mean


class PureGate:
    """Calls its listener while it is open: what is seldom wanted costs nothing in between."""

    def __init__(self, listener):
        self._listener = listener
        self.open = False

    def __call__(self, *arguments):
        if self.open:
            self._listener(*arguments)


class PureFeed:
    """The batches of one training. Their loss is there when a batch ends, or `late`: then it is read when the next one ends. It is a mean over the
    epoch so far, or the batch's `own`."""

    def __init__(self, pulse, stepper):
        self._pulse, self._stepper = pulse, stepper
        self.late = self.own = self._awaits = False
        self._pending = None  # (step, logs that are no numbers yet, batches)
        self._made = 1
        self.planned = 0  # Batches of an epoch, where known: of several in one go, the last ones may be told beyond its end.
        self.begin_epoch(0, 0, 0)

    def begin_epoch(self, size, whole, rest):
        """`whole` batches of `size` samples and one of `rest`, again and again; a size of 0: not known."""
        self.batches, self._last = 0, -1
        round_of_batches = whole + bool(rest)

        def samples_until(batches):
            rounds, more = divmod(batches, round_of_batches)
            return float(rounds * (whole * size + rest) + more * size)

        self._mean = RunningMean(samples_until if size > 0 and round_of_batches > 0 else float)

    def batch_end(self, batch, logs):
        number = batch if isinstance(batch, int) else self._last + 1
        if self.planned > self._last + 1:
            number = min(number, self.planned - 1)
        self._made = number - self._last if number > self._last else 1
        self._last = number
        self.batches += self._made
        if not self.late:
            self._awaits = True
            return
        self.take_pending()
        self._pulse.made(self._stepper, None, self._made)
        self._pending = (self._pulse.step, logs, self._made)

    def logs_read(self, logs):
        if self._awaits:
            self._awaits = False
            self._pulse.made(self._stepper, self._loss(logs, self._made), self._made)

    def take_pending(self):
        """The loss of the batch before: by now it has arrived."""
        pending, self._pending = self._pending, None
        if pending is None:
            return
        step, logs, made = pending
        loss = self._loss(logs, made)
        if loss is not None:
            self._pulse.late_loss(step, loss)

    def _loss(self, logs, made):
        try:
            mean = float(logs["loss"])
        except (TypeError, ValueError, KeyError):
            return None
        loss = self._mean.loss_of_batch(mean, made)
        return mean if self.own else loss


class PureFeeds:
    """Hands what the framework calls to the training that is under way."""

    current = None

    @quiet
    def batch_end(self, owner, batch, logs):
        if self.current is not None:
            self.current.batch_end(batch, logs)

    @quiet
    def logs_read(self, logs, *rest):
        if self.current is not None:
            self.current.logs_read(logs)


Gate = ring.native.Gate if ring.native is not None else PureGate
Feed = ring.native.Feed if ring.native is not None else PureFeed
Feeds = ring.native.Feeds if ring.native is not None else PureFeeds
