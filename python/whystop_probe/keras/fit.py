"""One call of `fit`: its plan, its steps, its epochs, and how it ended."""

from whystop_probe.core import crash
from whystop_probe.core.feed import Feed, Feeds, Gate
from whystop_probe.core.guard import quiet
from whystop_probe.core.metrics import tell
from whystop_probe.core.phases import Phases
from whystop_probe.core.weak import WeakTable
from whystop_probe.keras import stop
from whystop_probe.keras.steps import Stepper

_MESSAGE_MAX = 1500


class Fits:
    """The calls of fit that are under way: a callback may train another model. The innermost is the one that is told of."""

    def __init__(self, training, make_looks, name, reads_late=False):
        self._training = training
        self._make_looks = make_looks  # (fit) -> what looks at weights and data of this call.
        self._name = name
        self._stack = []
        self._steppers = {}  # id of the optimizer -> Stepper, as long as the process lives: a handful.
        self._models = WeakTable()  # That were fitted before.
        self.own_losses = WeakTable()  # Models whose own step logs the loss of each batch and no mean.
        self._reads_late = reads_late  # The logs are no numbers yet when a batch ends.
        self.feeds = Feeds()  # Told of the end of every batch, ahead of the callbacks: whatever they do, the batch is on record.
        self.batch_begin = Gate(self._batch_begin)  # Open while weights are wanted as they are ahead of a step.
        self.on_first = None  # Called once, when the first fit begins.
        self.phases = Phases(training)

    @property
    def current(self):
        return self._stack[-1] if self._stack else None

    @property
    def depth(self):
        return len(self._stack)

    def stepper(self, optimizer):
        return self._steppers.setdefault(id(optimizer), Stepper())

    @quiet
    def before(self, model, arguments):
        if self.on_first is not None:
            first, self.on_first = self.on_first, None
            first()
        self._training.channel.open()
        if model not in self._models:
            if self._models and not self._stack and self._training.step > self._training.began_at:
                self._training.next_one()
            self._models.add(model)
        self._push(Fit(self, model, arguments))

    def _push(self, fit):
        self._stack.append(fit)
        self.feeds.current = None  # Until it has begun.

    def _pop(self):
        fit = self._stack.pop()
        self.feeds.current = self.current.feed if self._stack else None
        return fit

    @quiet
    def after(self, model):
        if self._stack:
            self._pop().close()

    @quiet
    def failed(self, error, model):
        if not self._stack:
            return
        fit = self._pop()
        fit.tell_failure(error)
        fit.close()

    def tell_failed_call(self, call, error, times=None, **place):
        """The "framework-failed" observation: an exception left a call that trains."""
        frames = crash.frames_text(error.__traceback__)
        own = [row.split("\t") for row in frames.split("\n") if row.split("\t")[3:4] == ["1"]]
        self._training.channel.observe(
            "framework-failed",
            self._training.step,
            framework=self._name,
            call=call,
            times=times,
            type=type(error).__name__,
            message=str(error)[-_MESSAGE_MAX:] if len(str(error)) > _MESSAGE_MAX else str(error),
            file=own[-1][0] if own else None,
            line=int(own[-1][1]) if own else None,
            function=own[-1][2] if own else None,
            source=own[-1][4] if own and len(own[-1]) > 4 else None,
            **place,
        )

    @quiet
    def data_made(self, iterator):
        """An iterator of epochs was made. The first one inside fit is that of the training data."""
        if self.current is not None and self.current.iterator is None:
            self.current.iterator = iterator

    @quiet
    def told_stop(self, facts):
        fit = self.current
        place = {} if fit is None else {"epoch": fit.epoch + 1, "epochs": fit.epochs, "batch": fit.batches}
        self._training.channel.observe("framework-stop", self._training.step, framework=self._name, **{**facts, **place})
        if fit is not None:
            fit.stopped = True

    @quiet
    def train_begin(self, callbacks):
        if self.current is not None:
            self.current.begin(callbacks)

    @quiet
    def epoch_begin(self, callbacks, epoch):
        if self.current is not None:
            self.current.begin_epoch(epoch)

    @quiet
    def _batch_begin(self, *arguments):
        self.batch_begin.open = False
        fit = self.current
        if fit is not None and fit.looks is not None and fit.looks.wants_update:
            fit.looks.keep()

    @quiet
    def epoch_end(self, callbacks, epoch, logs):
        if self.current is not None:
            self.current.epoch_end(epoch, logs)

    @quiet
    def train_end(self, callbacks):
        if self.current is not None:
            self.current.end()

    @quiet
    def callback_failed(self, error, callbacks):
        """An exception is leaving the list of callbacks: its frame still knows whose turn it was."""
        fit = self.current
        if fit is None or fit.failing_callback is not None:
            return
        traceback = error.__traceback__
        callback = stop.callback_of(traceback.tb_frame) if traceback is not None else None
        fit.failing_callback = type(callback).__name__ if callback is not None else "callback"


class Fit:
    def __init__(self, owner, model, arguments):
        self._owner = owner
        self._training = owner._training
        self.model = model
        self.arguments = arguments
        self.iterator = None
        self.looks = None
        self.stepper = None
        self.epochs = arguments.get("epochs")
        self.epoch = -1
        self.feed = None  # From the beginning of the training on.
        self.batches_planned = None
        self.stopped = False
        self.failing_callback = None
        self._most_batches = 0
        self._epochs_done = 0
        self._short = []  # (epoch, batches) of epochs that ended before their plan.
        self._begun = False
        self._began_at = 0
        self._in_epoch = False

    @property
    def batches(self):
        """Of this epoch."""
        return self.feed.batches if self.feed is not None else 0

    def begin(self, callbacks):
        if self._begun:
            return
        self._begun = True
        self._began_at = self._training.step
        params = getattr(callbacks, "params", None) or {}
        self.epochs = params.get("epochs", self.epochs)
        self.batches_planned = params.get("steps")
        self.stepper = self._owner.stepper(self.model.optimizer)
        self.feed = self._owner.feeds.current = Feed(self._training.pulse, self.stepper)
        self.feed.late = bool(self._owner._reads_late or getattr(callbacks, "_async_train", False))
        self.feed.own = self.model in self._owner.own_losses
        self.feed.planned = int(self.batches_planned or 0)
        self.looks = self._owner._make_looks(self)
        self.looks.begin()
        arguments, model = self.arguments, self.model
        total = None
        if self.epochs is not None and self.batches_planned:
            total = max(0, self.epochs - (arguments.get("initial_epoch") or 0)) * self.batches_planned
        self._training.channel.observe(
            "framework",
            self._training.step,
            name=self._owner._name,
            epochs=self.epochs,
            steps=total,
            batches=self.batches_planned,
            callbacks=",".join(type(callback).__name__ for callback in getattr(callbacks, "callbacks", [])),
            batch_size=_number(arguments.get("batch_size")),
            start_epoch=arguments.get("initial_epoch"),
            steps_per_epoch=_number(arguments.get("steps_per_epoch")),
            validation_split=_number(arguments.get("validation_split")),
            validation=bool(arguments.get("validation_split") or arguments.get("validation_data") is not None),
            class_weight=_weights_text(arguments.get("class_weight")),
            eager=bool(getattr(model, "run_eagerly", False)),
            jit=getattr(model, "jit_compile", None) is True,
            steps_per_execution=_number(_steps_per_execution(model)),
            loss=_name(getattr(model, "loss", None)),
            outputs=_outputs(model),
            metrics=_names_of_metrics(model),
            early_stop_monitor=_monitor(callbacks),
        )

    def losses_are_own(self):
        self._owner.own_losses.add(self.model)
        self.feed.own = True

    def open_begin(self):
        """The next batch is wanted from its beginning."""
        self._owner.batch_begin.open = True

    def begin_epoch(self, epoch):
        self.epoch, self._in_epoch = epoch, True
        sizes = self.looks.batch_sizes if self.looks is not None else None
        if self.feed is not None:
            self.feed.begin_epoch(*(sizes or (0, 0, 0)))
        self._progress()

    def _progress(self):
        planned = None if self.epochs is None or not self.batches_planned else int(self.epochs * self.batches_planned)
        epochs = None if self.epochs is None else float(self.epochs)
        self._training.channel.writer.progress(float(self.epoch + 1), epochs, int(self._training.step - self._began_at), planned)

    def _take_pending(self):
        if self.feed is not None:
            self.feed.take_pending()

    def epoch_end(self, epoch, logs):
        self._take_pending()
        self._in_epoch = False
        self._epochs_done += 1
        planned = self.batches_planned or self._most_batches
        if self.batches < planned and not self.stopped:
            self._short.append((epoch + 1, self.batches))
        self._most_batches = max(self._most_batches, self.batches)
        if isinstance(logs, dict):
            tell(self._training, self._training.step, {name: _plain(value) for name, value in logs.items()}, skip=("loss", "learning_rate", "lr"))
        self._progress()
        if self.looks is not None:
            self.looks.epoch_end()

    def end(self, failed=None):
        """fit has come to its end, or was left."""
        if not self._begun:
            return
        self._begun = False
        self._take_pending()
        planned = self.batches_planned or self._most_batches
        self._training.channel.observe(
            "framework-end",
            self._training.step,
            name=self._owner._name,
            epoch=self.epoch + 1 if self.epoch >= 0 else None,
            epochs=self.epochs,
            epochs_done=self._epochs_done,
            global_step=self._training.step - self._began_at,
            stop_flag=self.stopped,
            failed=failed,
            short_epochs=len(self._short),
            first_short_epoch=self._short[0][0] if self._short else None,
            first_short_batches=self._short[0][1] if self._short else None,
            batches=planned or None,
            data=self.looks.data_kind if self.looks is not None else None,
        )

    def tell_failure(self, error):
        """An exception left fit. Whether the program catches it is seen at its end."""
        self._take_pending()
        if not isinstance(error, Exception):
            self.end(failed=type(error).__name__)
            return
        self._owner.tell_failed_call(
            "fit",
            error,
            callback=self.failing_callback,
            epoch=self.epoch + 1 if self.epoch >= 0 else None,
            epochs=self.epochs,
            batch=self.batches if self._in_epoch else None,
        )
        crash.report(type(error), error, error.__traceback__, ended_process=False)
        self.end(failed=type(error).__name__)

    def close(self):
        """Called last, whatever happened: nothing of the user's is held from here on."""
        self.end()
        if self.looks is not None:
            self.looks.close()
        self.model = self.arguments = self.iterator = self.looks = self.feed = None


def _outputs(model):
    """How many numbers the model gives for a sample; None where it has several outputs, or has not been built."""
    shape = getattr(model, "output_shape", None) if getattr(model, "built", False) else None
    return shape[-1] if isinstance(shape, tuple) and shape and isinstance(shape[-1], int) else None


def _plain(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _number(value):
    return float(value) if isinstance(value, (bool, int, float)) else None


def _steps_per_execution(model):
    return getattr(model, "steps_per_execution", None) or getattr(model, "_steps_per_execution", None)


def _name(loss):
    if loss is None or isinstance(loss, str):
        return loss
    if isinstance(loss, (list, tuple, dict)):
        items = loss.values() if isinstance(loss, dict) else loss
        return ",".join(str(_name(item)) for item in items)[:400]
    return getattr(loss, "__name__", type(loss).__name__)


def _names_of_metrics(model):
    """As the program asked for them; Keras makes its own of them at the first step."""
    asked = getattr(getattr(model, "_compile_metrics", None), "_user_metrics", None)
    if asked is None:
        return ",".join(str(getattr(metric, "name", metric)) for metric in getattr(model, "metrics", []))[:400]
    flat = []

    def walk(item):
        if isinstance(item, (list, tuple, dict)):
            for part in item.values() if isinstance(item, dict) else item:
                walk(part)
        elif item is not None:
            flat.append(item if isinstance(item, str) else getattr(item, "name", None) or getattr(item, "__name__", type(item).__name__))

    walk(asked)
    return ",".join(map(str, flat))[:400]


def _weights_text(weights):
    if not isinstance(weights, dict):
        return None
    return ",".join(f"{label}:{value}" for label, value in list(weights.items())[:40])


def _monitor(callbacks):
    for callback in getattr(callbacks, "callbacks", []):
        if type(callback).__name__ == "EarlyStopping":
            return str(getattr(callback, "monitor", ""))
    return None
