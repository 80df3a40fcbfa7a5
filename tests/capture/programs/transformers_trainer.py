"""A GPT-2 made from a configuration, trained by the Trainer of transformers."""
import tempfile

import torch

try:
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
except ImportError:
    print("skipped: transformers is not installed")
    raise SystemExit from None

set_seed(1)


class Sentences(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        words = torch.randint(0, 5000, (128,))
        return {"input_ids": words, "labels": words}


model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_head=4, n_embd=256, vocab_size=5000, n_positions=256,
                                   bos_token_id=0, eos_token_id=0))
with tempfile.TemporaryDirectory() as folder:
    asked = TrainingArguments(output_dir=folder, per_device_train_batch_size=8, max_steps=4, report_to=[],
                              save_strategy="no", bf16=True, disable_tqdm=True)
    Trainer(model=model, args=asked, train_dataset=Sentences()).train()
print("done")
