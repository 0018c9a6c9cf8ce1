"""A tiny Lightning run that early stopping ends; prints a fingerprint of its weights."""

import hashlib
import logging
import sys
import warnings

import torch

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import lightning.pytorch as pl  # noqa: E402
from lightning.pytorch.callbacks import EarlyStopping  # noqa: E402


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))

    def training_step(self, batch, index):
        return torch.nn.functional.cross_entropy(self.body(batch[0]), batch[1])

    def validation_step(self, batch, index):
        self.log("val_loss", torch.nn.functional.cross_entropy(self.body(batch[0]), batch[1]) + self.current_epoch)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


pl.seed_everything(3, verbose=False)
torch.set_num_threads(1)
data = torch.utils.data.TensorDataset(torch.randn(96, 6), torch.randint(0, 3, (96,)))
train = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
valid = torch.utils.data.DataLoader(data, batch_size=32)
net = Net()
trainer = pl.Trainer(
    max_epochs=int(sys.argv[1]) if len(sys.argv) > 1 else 20,
    callbacks=[EarlyStopping("val_loss", patience=2)],
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    accelerator="cpu",
)
trainer.fit(net, train, valid)
digest = hashlib.sha256(b"".join(value.numpy().tobytes() for value in net.state_dict().values()))
print(trainer.current_epoch, trainer.global_step, digest.hexdigest(), torch.get_rng_state().sum().item())
