"""Which imports the probe waits for, and what it does then. Nothing here imports anything before that."""


_prepared = []


def _before_framework(module):
    """Once a process, ahead of the first framework that it imports."""
    if _prepared:
        return
    _prepared.append(module.__name__)
    from whystop_probe.core import channel, crash

    channel.shared().open()
    crash.watch_fatal_signals()
    crash.watch_threads()
    crash.watch_senders()


def _after_torch(module):
    from whystop_probe.torch import probe as torch_probe

    torch_probe.install(module)


def _after_tensorflow(module):
    from whystop_probe.core import kinds
    from whystop_probe.tensorflow.kinds import TensorFlowKinds

    kinds.register(TensorFlowKinds())


def _after_lightning(module):
    from whystop_probe.frameworks import lightning

    lightning.install(module)


def _after_hugging_face(module):
    from whystop_probe.frameworks import huggingface

    huggingface.install(module)


def _after_keras(module):
    from whystop_probe.keras import probe as keras_probe

    keras_probe.install(module)


def _after_legacy_keras(module):
    from whystop_probe.keras import probe as keras_probe

    keras_probe.install_legacy(module)


def _after_numpy(module):
    """Programs that train with nothing but arrays; what there is to tell of them is told at their end."""
    import atexit
    import sys

    program = getattr(sys.modules.get("__main__"), "__file__", None)  # Gone when the program has ended.

    def tell():
        from whystop_probe.loop import module_exits

        module_exits.tell(program)

    atexit.register(tell)


def _after_first_child(module):
    from whystop_probe.core import children

    children.install(module)


def _after_subprocess(module):
    from whystop_probe.core import children

    children.install_limits(module)


def _after_ipython(module):
    from whystop_probe.frameworks import notebook

    notebook.install(module)


TABLE = {
    "torch": (_before_framework, _after_torch),
    "tensorflow": (_before_framework, _after_tensorflow),
    "jax": (_before_framework, None),
    "keras": (_before_framework, None),
    "keras.src.backend.tensorflow.trainer": (None, _after_keras),
    "keras.src.backend.torch.trainer": (None, _after_keras),
    "keras.src.backend.jax.trainer": (None, _after_keras),
    "tf_keras.src.engine.training": (None, _after_legacy_keras),
    "keras.src.engine.training": (None, _after_legacy_keras),
    "numpy": (None, _after_numpy),
    "multiprocessing.popen_fork": (None, _after_first_child),
    "subprocess": (None, _after_subprocess),
    "IPython.core.interactiveshell": (None, _after_ipython),
    "lightning.pytorch.trainer.trainer": (None, _after_lightning),
    "pytorch_lightning.trainer.trainer": (None, _after_lightning),
    "transformers.trainer_callback": (None, _after_hugging_face),
}
