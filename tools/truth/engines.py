"""Programs on public packages, each a few lines with small models of its own: `engines.py NAME` runs one.

`truth engines` records each of them on a virtual GPU, and says which ends.
"""
import os
import sys

import torch
from torch import nn

os.environ.setdefault("HF_HUB_OFFLINE", "1")
PROGRAMS = {}


def program(_package):
    """Registers a program under its name; what it shows is this distribution."""
    def register(function):
        PROGRAMS[function.__name__] = function
        return function
    return register


def steps(model, *inputs, loss=lambda out: out.float().mean(), count=2, optimizer=torch.optim.AdamW):
    """Trains a model for a few steps."""
    optimizer = optimizer(model.parameters(), lr=1e-4)
    for _ in range(count):
        loss(model(*inputs)).backward()
        optimizer.step()
        optimizer.zero_grad()


def images(count=4, size=224):
    return torch.randn(count, 3, size, size, device="cuda")


def tokens(count=2, length=128, vocabulary=1000):
    return torch.randint(0, vocabulary, (count, length), device="cuda")


def small_llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4,
                                        vocab_size=1000)).cuda()


@program("torch")
def torch_compile():
    model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).cuda()
    torch.compile(model)(torch.randn(64, 1024, device="cuda")).sum().backward()


@program("torch")
def torch_cuda_graphs():
    model, x = nn.Linear(512, 512).cuda(), torch.randn(64, 512, device="cuda")
    step = torch.cuda.make_graphed_callables(model, (x,))
    step(x).sum().backward()


@program("torch")
def torch_fsdp2():
    from torch.distributed.fsdp import fully_shard
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
    torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    model = nn.Sequential(*(nn.Linear(512, 512) for _ in range(4))).cuda()
    for layer in model:
        fully_shard(layer)
    steps(fully_shard(model), torch.randn(8, 512, device="cuda"))


@program("triton")
def triton_kernel():
    import triton
    from triton import language as tl

    @triton.jit
    def add(x, y, out, n, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

    x = torch.ones(1 << 20, device="cuda")
    add[(1024,)](x, x, torch.empty_like(x), x.numel(), block=1024)


@program("torchvision")
def torchvision_resnet():
    from torchvision.models import resnet50
    steps(resnet50().cuda(), images())


@program("torchaudio")
def torchaudio_wav2vec2():
    from torchaudio.models import wav2vec2_base
    steps(wav2vec2_base().cuda(), torch.randn(2, 16000, device="cuda"), loss=lambda out: out[0].mean())


@program("transformers")
def transformers_trainer():
    from transformers import Trainer, TrainingArguments
    data = [{"input_ids": row, "labels": row} for row in tokens(8).cpu()]
    Trainer(small_llama(), TrainingArguments("/tmp/trainer", max_steps=2, report_to=[], save_strategy="no", bf16=True),
            train_dataset=data).train()


@program("accelerate")
def accelerate_loop():
    from accelerate import Accelerator
    accelerator, model = Accelerator(mixed_precision="bf16"), nn.Linear(512, 512)
    model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters()))
    accelerator.backward(model(torch.randn(8, 512, device="cuda")).mean())
    optimizer.step()


@program("peft")
def peft_lora():
    from peft import LoraConfig, get_peft_model
    model = get_peft_model(small_llama(), LoraConfig(target_modules=["q_proj", "v_proj"]))
    steps(model, tokens(), loss=lambda out: out.logits.mean())


@program("trl")
def trl_sft():
    from datasets import Dataset
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast
    from trl import SFTConfig, SFTTrainer
    words = Tokenizer(models.WordLevel({"a": 0, "<eos>": 1}, unk_token="a"))
    SFTTrainer(small_llama(), SFTConfig("/tmp/sft", max_steps=2, report_to=[], save_strategy="no"),
               train_dataset=Dataset.from_list([{"input_ids": [0] * 64}] * 8),
               processing_class=PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<eos>", pad_token="<eos>")).train()


@program("diffusers")
def diffusers_unet():
    from diffusers import UNet2DModel
    unet = UNet2DModel(sample_size=32, block_out_channels=(64, 128, 256, 256)).cuda()
    steps(unet, images(4, 32), torch.zeros(4, device="cuda"), loss=lambda out: out.sample.mean())


@program("bitsandbytes")
def bitsandbytes_adam8bit():
    import bitsandbytes as bnb
    steps(nn.Linear(4096, 4096).cuda(), torch.randn(8, 4096, device="cuda"), optimizer=bnb.optim.Adam8bit)


@program("bitsandbytes")
def bitsandbytes_linear4bit():
    import bitsandbytes as bnb
    layer = bnb.nn.Linear4bit(1024, 1024, compute_dtype=torch.bfloat16).cuda()
    layer(torch.randn(8, 1024, device="cuda", dtype=torch.bfloat16))


@program("xformers")
def xformers_attention():
    from xformers.ops import memory_efficient_attention
    q = torch.randn(2, 512, 8, 64, device="cuda", dtype=torch.float16, requires_grad=True)
    memory_efficient_attention(q, q, q).sum().backward()


@program("torchtitan")
def torchtitan_llama3():
    from torchtitan.models.llama3 import Transformer, TransformerModelArgs
    model = Transformer(TransformerModelArgs(dim=256, n_layers=2, n_heads=4, vocab_size=1000)).cuda()
    steps(model, tokens())


@program("torchtune")
def torchtune_llama3():
    from torchtune.models.llama3 import llama3
    model = llama3(vocab_size=1000, num_layers=2, num_heads=4, num_kv_heads=2, embed_dim=256, max_seq_len=512)
    steps(model.cuda(), tokens())


@program("torchao")
def torchao_int8():
    from torchao.quantization import Int8WeightOnlyConfig, quantize_
    model = nn.Sequential(nn.Linear(1024, 1024)).cuda().bfloat16()
    quantize_(model, Int8WeightOnlyConfig())
    model(torch.randn(8, 1024, device="cuda", dtype=torch.bfloat16))


@program("lightning")
def lightning_trainer():
    import lightning

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(32, 32)

        def training_step(self, batch, _):
            return self.layer(batch).mean()

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

    lightning.Trainer(max_steps=2, logger=False, enable_checkpointing=False, enable_progress_bar=False).fit(
        Model(), torch.utils.data.DataLoader(torch.randn(8, 32), 4))


@program("liger-kernel")
def liger_llama():
    from liger_kernel.transformers import apply_liger_kernel_to_llama
    apply_liger_kernel_to_llama()
    steps(small_llama(), tokens(), loss=lambda out: out.logits.mean())


@program("flash-linear-attention")
def fla_gated_linear_attention():
    from fla.layers import GatedLinearAttention
    layer = GatedLinearAttention(hidden_size=256, num_heads=2).cuda().bfloat16()
    layer(torch.randn(2, 256, 256, device="cuda", dtype=torch.bfloat16))[0].sum().backward()


@program("timm")
def timm_vit():
    import timm
    steps(timm.create_model("vit_small_patch16_224").cuda(), images())


@program("open_clip_torch")
def open_clip():
    import open_clip
    model = open_clip.create_model("ViT-B-32").cuda()
    steps(model, images(), tokens(4, 77), loss=lambda out: sum(part.float().mean() for part in out))


@program("kornia")
def kornia_augmentation():
    import kornia.augmentation as K
    K.AugmentationSequential(K.RandomHorizontalFlip(), K.RandomGaussianBlur((3, 3), (0.1, 2.0)))(images())


@program("monai")
def monai_unet3d():
    from monai.networks.nets import UNet
    model = UNet(spatial_dims=3, in_channels=1, out_channels=2, channels=(16, 32, 64), strides=(2, 2)).cuda()
    steps(model, torch.randn(1, 1, 64, 64, 64, device="cuda"))


@program("segmentation-models-pytorch")
def segmentation_unet():
    import segmentation_models_pytorch as smp
    steps(smp.Unet("resnet34", encoder_weights=None).cuda(), images(2))


@program("ultralytics")
def ultralytics_yolo():
    from ultralytics.nn.tasks import DetectionModel
    model = DetectionModel("yolov8n.yaml", verbose=False).cuda().train()
    steps(model, images(2, 320), loss=lambda out: sum(part.mean() for part in out))


@program("x-transformers")
def x_transformers():
    from x_transformers import Decoder, TransformerWrapper
    model = TransformerWrapper(num_tokens=1000, max_seq_len=256, attn_layers=Decoder(dim=256, depth=2, heads=4))
    steps(model.cuda(), tokens())


@program("vit-pytorch")
def vit_pytorch():
    from vit_pytorch import ViT
    steps(ViT(image_size=224, patch_size=16, num_classes=10, dim=256, depth=2, heads=4, mlp_dim=512).cuda(), images())


@program("denoising-diffusion-pytorch")
def denoising_diffusion():
    from denoising_diffusion_pytorch import GaussianDiffusion, Unet
    steps(GaussianDiffusion(Unet(dim=32), image_size=32).cuda(), images(2, 32))


@program("lion-pytorch")
def lion():
    from lion_pytorch import Lion
    steps(nn.Linear(512, 512).cuda(), torch.randn(8, 512, device="cuda"), optimizer=Lion)


@program("galore-torch")
def galore():
    from galore_torch import GaLoreAdamW
    groups = lambda parameters, lr: GaLoreAdamW([{"params": [p for p in parameters if p.dim() == 2], "rank": 8,
                                                  "update_proj_gap": 10, "scale": 0.25, "proj_type": "std"}], lr=lr)
    steps(nn.Linear(256, 256, bias=False).cuda(), torch.randn(8, 256, device="cuda"), optimizer=groups)


@program("stable_baselines3")
def stable_baselines_ppo():
    from stable_baselines3 import PPO
    PPO("MlpPolicy", "CartPole-v1", device="cuda", n_steps=64, batch_size=32).learn(64)


@program("pyro-ppl")
def pyro_svi():
    import pyro
    from pyro import distributions as dist, infer, optim
    data = torch.randn(64, device="cuda")
    model = lambda: pyro.sample("x", dist.Normal(pyro.param("m", torch.zeros(1, device="cuda")), 1.0).expand([64]), obs=data)
    infer.SVI(model, lambda: None, optim.Adam({"lr": 0.01}), infer.Trace_ELBO()).step()


@program("gpytorch")
def gpytorch_exact():
    import gpytorch
    kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel()).cuda()
    kernel(torch.randn(256, 2, device="cuda")).to_dense().sum().backward()


@program("skorch")
def skorch_classifier():
    from skorch import NeuralNetClassifier
    net = NeuralNetClassifier(nn.Sequential(nn.Linear(20, 2), nn.Softmax(-1)), max_epochs=2, device="cuda", train_split=None)
    net.fit(torch.randn(64, 20).numpy(), (torch.arange(64) % 2).numpy())


@program("torch-geometric")
def geometric_gcn():
    from torch_geometric.nn import GCNConv
    edges = torch.arange(100, device="cuda").repeat(2, 1)
    steps(GCNConv(32, 16).cuda(), torch.randn(100, 32, device="cuda"), edges)


@program("openai-whisper")
def whisper_model():
    from whisper.model import ModelDimensions, Whisper
    model = Whisper(ModelDimensions(80, 1500, 384, 6, 2, 1000, 448, 384, 6, 2)).cuda()
    steps(model, torch.randn(1, 80, 3000, device="cuda"), tokens(1, 32))


@program("speechbrain")
def speechbrain_ecapa():
    from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN
    steps(ECAPA_TDNN(80, device="cuda", lin_neurons=64).cuda(), torch.randn(2, 200, 80, device="cuda"))


@program("sentence-transformers")
def sentence_transformers_pooling():
    from sentence_transformers import models
    pool = models.Pooling(256).cuda()
    pool({"token_embeddings": torch.randn(4, 32, 256, device="cuda"),
          "attention_mask": torch.ones(4, 32, device="cuda")})["sentence_embedding"].sum()


@program("megatron-core")
def megatron_gpt():
    from megatron.core import parallel_state
    from megatron.core.models.gpt import GPTModel
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
    from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
    from megatron.core.transformer import TransformerConfig
    os.environ.update(RANK="0", WORLD_SIZE="1")
    torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    parallel_state.initialize_model_parallel()
    model_parallel_cuda_manual_seed(0)
    model = GPTModel(TransformerConfig(num_layers=2, hidden_size=256, num_attention_heads=4), get_gpt_layer_local_spec(), 1000,
                     128).cuda()
    steps(model, tokens(), torch.arange(128, device="cuda").repeat(2, 1), None)


@program("deepspeed")
def deepspeed_zero():
    import deepspeed
    os.environ.update(RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR="localhost", MASTER_PORT="29511")
    model = nn.Linear(512, 512)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config={
        "train_batch_size": 8, "zero_optimization": {"stage": 2}, "bf16": {"enabled": True},
        "optimizer": {"type": "AdamW", "params": {"torch_adam": True}}})
    engine.backward(engine(torch.randn(8, 512, device="cuda", dtype=torch.bfloat16)).mean())
    engine.step()


@program("fairscale")
def fairscale_fsdp():
    from fairscale.nn import FullyShardedDataParallel
    torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    steps(FullyShardedDataParallel(nn.Linear(512, 512).cuda()), torch.randn(8, 512, device="cuda"))


@program("vllm")
def vllm_sleep():
    from vllm.device_allocator.cumem import CuMemAllocator
    allocator = CuMemAllocator.get_instance()
    with allocator.use_memory_pool(tag="weights"):
        weights = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    allocator.sleep(offload_tags=())
    allocator.wake_up()
    del weights


@program("torch-memory-saver")
def torch_memory_saver_pause():
    from torch_memory_saver import torch_memory_saver
    torch_memory_saver.hook_mode = "torch"
    with torch_memory_saver.region(tag="kv"):
        cache = torch.zeros(1 << 30, dtype=torch.uint8, device="cuda")
    torch_memory_saver.pause("kv")
    torch_memory_saver.resume("kv")
    del cache


@program("vllm")
def vllm_engine():
    import json
    import pathlib
    import tempfile
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 256, "intermediate_size": 512,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 64, "vocab_size": 1000,
        "max_position_embeddings": 2048, "torch_dtype": "bfloat16", "rope_theta": 1e6, "rms_norm_eps": 1e-6}))
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    from vllm import LLM
    LLM(str(folder), load_format="dummy", skip_tokenizer_init=True, enforce_eager=True)


def main():
    PROGRAMS[sys.argv[1]]()
    torch.cuda.synchronize()
    print("done", flush=True)


if __name__ == "__main__":
    main()
