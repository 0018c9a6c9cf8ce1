"""Which imports the probe waits for, and what it does then. Nothing here imports anything before that."""


def _before_torch(module):
    from whystop_probe.core import channel, crash

    channel.shared().open()
    crash.watch_fatal_signals()
    crash.watch_threads()
    crash.watch_senders()


def _after_torch(module):
    from whystop_probe.torch import probe as torch_probe

    torch_probe.install(module)


def _after_lightning(module):
    from whystop_probe.frameworks import lightning

    lightning.install(module)


def _after_hugging_face(module):
    from whystop_probe.frameworks import huggingface

    huggingface.install(module)


TABLE = {
    "torch": (_before_torch, _after_torch),
    "lightning.pytorch.trainer.trainer": (None, _after_lightning),
    "pytorch_lightning.trainer.trainer": (None, _after_lightning),
    "transformers.trainer_callback": (None, _after_hugging_face),
}
