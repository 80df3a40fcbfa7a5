"""Starts vLLM for a model without weights, and says what its cache came to: run by `python -m memreplay vllm`.

Usage: _vllm_start.py ARGUMENTS, a JSON object of vllm.LLM's arguments
"""
import json
import os
import sys

sys.path.pop(0)  # this folder has modules whose names others have
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")  # one process, one recording
os.environ["VLLM_LOGGING_LEVEL"] = "DEBUG"  # what the profile run found is said at this level alone


def main():
    from vllm import LLM

    engine = LLM(**json.loads(sys.argv[1])).llm_engine
    cache = engine.vllm_config.cache_config
    scheduler = engine.vllm_config.scheduler_config
    print("memreplay-vllm", json.dumps({
        "blocks": cache.num_gpu_blocks, "block_size": cache.block_size, "max_num_seqs": scheduler.max_num_seqs,
        "max_num_batched_tokens": scheduler.max_num_batched_tokens,
        "gpu_memory_utilization": cache.gpu_memory_utilization}), flush=True)


if __name__ == "__main__":
    main()
