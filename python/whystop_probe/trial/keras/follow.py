"""The callback that follows a trial: the loss of each batch beside that of guessing."""

from whystop_probe.core.guard import quiet


def follower(keras, watch, guess):
    class Follower(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self._batches, self._sum = 0, 0.0

        def on_train_batch_end(self, batch, logs=None):
            self._follow(logs)

        @quiet
        def _follow(self, logs):
            self._batches += 1
            mean = float(logs["loss"])  # Over the epoch so far.
            loss, self._sum = mean * self._batches - self._sum, mean * self._batches
            watch.step(loss, guess)

    return Follower()
