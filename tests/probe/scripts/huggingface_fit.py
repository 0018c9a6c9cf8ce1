"""A tiny Hugging Face run that early stopping ends; prints a fingerprint of its weights."""

import hashlib
import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, EarlyStoppingCallback, Trainer, TrainingArguments, set_seed

set_seed(5)
torch.set_num_threads(1)


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        tokens = torch.randint(0, 40, (8,), generator=generator)
        return {"input_ids": tokens, "attention_mask": torch.ones(8, dtype=torch.long), "labels": int(tokens[0] % 2)}


config = BertConfig(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=16)
model = BertForSequenceClassification(config)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        num_train_epochs=30,
        per_device_train_batch_size=16,
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=True,
        learning_rate=1e-3,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        logging_steps=4,
        save_total_limit=1,
    )
    trainer = Trainer(model, arguments, train_dataset=Data(), eval_dataset=Data(), callbacks=[EarlyStoppingCallback(early_stopping_patience=2)])
    trainer.train()
digest = hashlib.sha256(b"".join(value.numpy().tobytes() for value in model.state_dict().values()))
print("state", trainer.state.global_step, digest.hexdigest(), torch.get_rng_state().sum().item())
