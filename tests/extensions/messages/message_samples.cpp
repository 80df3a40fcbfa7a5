#include "extensions/messages/message_samples.hpp"

namespace memreplay {

const std::vector<MessageSample>& message_samples() {
  static const std::vector<MessageSample>
      kSamples =
          {
              {"torch",
               "CUDACachingAllocator.cpp, 2.4",
               R"x(torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 122.00 MiB. GPU 1 has a total capacity of 2.33 GiB of which 74.00 MiB is free. Including non-PyTorch memory, this process has 2.20 GiB memory in use. Of the allocated memory 1.87 GiB is allocated by PyTorch, with 10.00 MiB allocated in private pools (e.g., CUDA Graphs), and 220.28 MiB is reserved by PyTorch but unallocated.
)x",
               {{"requested", 122.0}, {"device_free", 74.0}, {"free_inside", 220.28}}},
              {"torch",
               "CUDACachingAllocator.cpp, 1.10",
               R"x(RuntimeError: CUDA out of memory. Tried to allocate 2.26 GiB (GPU 0; 6.00 GiB total capacity; 781.59 MiB already allocated; 3.03 GiB free; 4.00 GiB allowed; 1.24 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb
)x",
               {{"live", 781.59}, {"limit", 4096.0}}},
              {"torch",
               "torch_npu, NPUCachingAllocator.cpp",
               R"x(RuntimeError: NPU out of memory. Tried to allocate 900.00 MiB (NPU 5; 60.96 GiB total capacity; 41.00 GiB already allocated; 41.00 GiB current active; 310.00 MiB free; 57.20 GiB reserved in total by PyTorch)
)x",
               {{"requested", 900.0}, {"device_free", 310.0}}},
              {"torch",
               "c10/xpu, 2.8",
               R"x(torch.OutOfMemoryError: XPU out of memory. Tried to allocate 59.61 GiB. GPU 0 has a total capacity of 28.55 GiB of which 12.01 GiB is free. Of the allocated memory 10.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.
)x",
               {{"live", 10240.0}}},
              {"torch-summary",
               "torch/cuda/memory.py, 2.x",
               R"x(|                  PyTorch CUDA memory summary, device ID 2                 |
|            CUDA OOMs: 1            |        cudaMalloc retries: 3         |
| Allocated memory      |  14541 MiB |  29800 MiB |   1020 GiB |   1006 GiB |
| Active memory         |  30500 MiB |  30800 MiB |   1020 GiB |    990 GiB |
| GPU reserved memory   |  30822 MiB |  30822 MiB |  41000 MiB |  10178 MiB |
| Allocations           |      32    |      47    |     184    |     152    |
)x",
               {{"live", 14541.0}, {"active", 30500.0}, {"reserved", 30822.0}}},
              {"torch-summary",
               "torch/cuda/memory.py, 1.8",
               R"x(|                  PyTorch CUDA memory summary, device ID 0                 |
|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |
| Allocated memory      |    6211 MB |    9044 MB |   51240 MB |   45029 MB |
| Active memory         |    6211 MB |    9044 MB |   51240 MB |   45029 MB |
| GPU reserved memory   |   10180 MB |   10180 MB |   12004 MB |    1824 MB |
)x",
               {{"live", 6211.0}, {"reserved", 10180.0}}},
              {"torch-stats",
               "memory_stats() printed",
               R"x(OrderedDict([('active_bytes.all.current', 5368709120), ('allocated_bytes.all.current', 5368709120), ('allocated_bytes.all.peak', 9663676416), ('num_ooms', 1), ('reserved_bytes.all.current', 10737418240)])
)x",
               {{"live", 5120.0}, {"reserved", 10240.0}}},
              {"torch-stats",
               "memory_stats() as JSON",
               R"x({"allocated_bytes.all.current": 1073741824,
 "allocated_bytes.all.peak": 2147483648,
 "reserved_bytes.all.current": 4294967296, "num_ooms": 0}
)x",
               {{"live", 1024.0}, {"live_peak", 2048.0}}},
              {"torch-async",
               "CUDAMallocAsyncAllocator.cpp, 2.5",
               R"x(torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)
Currently allocated     : 13.20 GiB
Requested               : 640.00 MiB
Device limit            : 15.99 GiB
Free (according to CUDA): 0 bytes
PyTorch limit (set by user-supplied memory fraction)
                        : 17179869184.00 GiB
)x",
               {{"requested", 640.0}, {"device_free", 0.0}}},
              {"torch-async",
               "the same with a fraction",
               R"x(torch.cuda.OutOfMemoryError: Allocation on device 1 would exceed allowed memory. (out of memory)
Currently allocated     : 9.43 GiB
Requested               : 1.50 GiB
Device limit            : 23.69 GiB
Free (according to CUDA): 7.12 MiB
PyTorch limit (set by user-supplied memory fraction)
                        : 10.00 GiB
)x",
               {{"limit", 10240.0}, {"device_free", 7.12}}},
              {"mps",
               "MPSAllocator.mm, 1.13",
               R"x(RuntimeError: MPS backend out of memory (MPS allocated: 8.10 GB, other allocations: 720.00 MB, max allowed: 9.07 GB). Tried to allocate 512.00 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable
)x",
               {{"requested", 512.0}, {"outside", 720.0}}},
              {"mps",
               "MPSAllocator.mm, 2.9",
               R"x(RuntimeError: MPS backend out of memory (MPS allocated: 1024.00 MiB, other allocations: 384.00 KiB, max allowed: 511.18 MiB). Tried to allocate 256.00 MiB on shared pool. Use
)x",
               {{"live", 1024.0}, {"outside", 0.375}}},
              {"host",
               "alloc_cpu.cpp, 2.x",
               R"x(RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 34359738368 bytes. Error code 12 (Cannot allocate memory)
)x",
               {{"requested", 32768.0}}},
              {"host",
               "numpy/core/_exceptions.py",
               R"x(numpy.core._exceptions._ArrayMemoryError: Unable to allocate 14.9 GiB for an array with shape (50000, 40000) and data type float64
)x",
               {{"requested", 15257.6}}},
              {"bfc",
               "tsl/framework/bfc_allocator.cc",
               R"x(Allocator (GPU_0_bfc) ran out of memory trying to allocate 5.9KiB (rounded to 6144)requested by op (driver)
BFCAllocator dump for GPU_0_bfc
Bin for 6.0KiB was 4.0KiB, Chunk State: 
Next region of size 19968
InUse at 100000000000 of size 5120 next 1
Free  at 100000001600 of size 4608 next 2
     Summary of in-use Chunks by size: 
Sum Total of in-use chunks: 10.8KiB
Stats: 
Limit:                           20000
InUse:                           11008
MaxInUse:                        19968
)x",
               {{"requested", 0.005859375},
                {"limit", 0.019073486328125},
                {"live", 0.010498046875}}},
              {"bfc",
               "tensorflow 1.x",
               R"x(W tensorflow/core/common_runtime/bfc_allocator.cc:271] Allocator (GPU_1_bfc) ran out of memory trying to allocate 3.27GiB.  Current allocation summary follows.
I tensorflow/core/common_runtime/bfc_allocator.cc:693] Sum Total of in-use chunks: 9.21GiB
I tensorflow/core/common_runtime/bfc_allocator.cc:696] Stats: 
Limit:                 11286285517
InUse:                  9889284096
MaxInUse:              10889284096
)x",
               {{"live", 9431.15625}}},
              {"tf-device",
               "gpu_device.cc, 2.x",
               R"x(I tensorflow/core/common_runtime/gpu/gpu_device.cc:1613] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 21885 MB memory:  -> device: 0, name: Card
)x",
               {{"limit", 21885.0}}},
              {"tf-device",
               "gpu_device.cc, 1.x",
               R"x(I tensorflow/core/common_runtime/gpu/gpu_device.cc:1103] Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:1 with 10756 MB memory) -> physical GPU (device: 1)
)x",
               {{"limit", 10756.0}}},
              {"tf-tensor",
               "op_kernel.cc",
               R"x(OP_REQUIRES failed at conv_ops.cc:1: Resource exhausted: OOM when allocating tensor with shape[64,256,56,56] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
)x",
               {{"requested", 196.0}}},
              {"tf-tensor",
               "op_kernel.cc, half",
               R"x(ResourceExhaustedError: OOM when allocating tensor with shape[32,512,512,64] and type half on /job:localhost/replica:0/task:0/device:GPU:1 by allocator GPU_1_bfc [Op:Conv2D]
)x",
               {{"requested", 1024.0}}},
              {"gpu-driver",
               "cuda_driver.cc, 2.16",
               R"x(E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:1141] failed to allocate 3.25GiB (3489660928 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory
)x",
               {{"requested", 3328.0}}},
              {"gpu-driver",
               "cuda_driver.cc, 1.x",
               R"x(E tensorflow/stream_executor/cuda/cuda_driver.cc:806] failed to allocate 7.62G (8183459840 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory
)x",
               {{"requested", 7804.35546875}}},
              {"cupy",
               "cupy/cuda/memory.pyx, 13",
               R"x(cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,073,741,824 bytes (allocated so far: 3,221,225,472 bytes, limit set to: 4,000,000,000 bytes).
)x",
               {{"requested", 1024.0}, {"live", 3072.0}, {"limit", 3814.697265625}}},
              {"cupy",
               "cupy/cuda/memory.pyx, 5",
               R"x(cupy.cuda.memory.OutOfMemoryError: out of memory to allocate 1073741824 bytes (total 3221225472 bytes)
)x",
               {{"requested", 1024.0}, {"live", 2048.0}}},
              {"tensorrt",
               "TensorRT's log, 8",
               R"x([05/01/2026-10:00:00] [E] 2: [virtualMemoryBuffer.cpp::resizePhysical::145] Error Code 2: OutOfMemory (no further information)
[TRT]: Requested amount of GPU memory (2147483648 bytes) could not be allocated. There may not be enough free memory for allocation to succeed.
)x",
               {{"requested", 2048.0}}},
              {"tensorrt",
               "TensorRT's log, 7",
               R"x([TensorRT] ERROR: Requested amount of memory (150994944 bytes) could not be allocated.
)x",
               {{"requested", 144.0}}},
              {"tensorrt",
               "TensorRT's builder, 8.6",
               R"x([W] Skipping tactic 3 due to insufficient memory on requested size of 4294967296 detected for tactic 0x04.
)x",
               {{"requested", 4096.0}}},
              {"gpu-driver",
               "cuda_driver.cc, unified memory",
               R"x(E cuda_driver.cc:764] failed to alloc 2740606464 bytes unified memory; result: CUDA_ERROR_OUT_OF_MEMORY: out of memory
)x",
               {{"requested", 2613.64599609375}}},
              {"paddle",
               "cuda allocator, 1.6",
               R"x(Out of memory error on GPU 0. Cannot allocate 145.468994MB GPU memory, available memory is 72.312500MB.
)x",
               {{"requested", 145.468994}, {"device_free", 72.3125}}},
              {"vllm",
               "worker.py, 0.6",
               R"x(INFO 12-13 19:54:18 worker.py:243] Memory profiling results:
INFO 12-13 19:54:18 worker.py:243] total_gpu_memory                        79.22GiB
INFO 12-13 19:54:18 worker.py:243] the current vLLM instance can use       71.29GiB
INFO 12-13 19:54:18 worker.py:243] model weights take                      14.96GiB
INFO 12-13 19:54:18 worker.py:243] non_torch_memory                         1.79GiB
INFO 12-13 19:54:18 worker.py:243] PyTorch activation peak memory           1.26GiB
INFO 12-13 19:54:18 worker.py:243] available_kv_cache_memory               53.29GiB
)x",
               {{"device", 81121.28}, {"kv_cache", 54568.96}}},
              {"host",
               "ggml-cuda.cu, of a system that writes a decimal comma",
               R"x(ggml_cuda_host_malloc: failed to allocate 1900,50 MiB of pinned memory: invalid argument
)x",
               {{"requested", 1900.5}}},
              {"host",
               "numpy, a whole number",
               R"x(MemoryError: Unable to allocate 184. MiB for an array with shape (64, 26, 26, 3, 371) and data type float32
)x",
               {{"requested", 184.0}}},
              {"xla",
               "pjrt and buffer_assignment.cc, 2023",
               R"x(RESOURCE_EXHAUSTED: Out of memory while trying to allocate 5368709120 bytes.
BufferAssignment OOM Debugging.
BufferAssignment stats:
     preallocated temp allocation:    5.00GiB
                 total allocation:    8.00GiB
Peak buffers:
        Buffer 1:
                Size: 4.00GiB
                Operator: op_name="jit(step)/dot_general" source_file="/w/net.py" source_line=88
                Shape: f32[32768,32768]
                ==========================

        Buffer 2:
                Size: 1.00GiB
)x",
               {{"requested", 5120.0}, {"needed", 8192.0}, {"largest_buffer", 4096.0}}},
              {"xla",
               "XLA:TPU",
               R"x(RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 55.24G of 31.25G hbm. Exceeded hbm capacity by 23.99G.
)x",
               {{"limit", 32000.0}}},
              {"onnxruntime",
               "bfc_arena.cc, 1.16",
               R"x(RuntimeException: [ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned while running MatMul node. Name:'/blk.3/MatMul' Status Message: bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal() Failed to allocate memory for requested buffer of size 1610612736
)x",
               {{"requested", 1536.0}}},
              {"onnxruntime",
               "bfc_arena.cc, a limit",
               R"x(Non-zero status code returned while running Conv node. Name:'Conv_12' Status Message: bfc_arena.cc:342 Available memory of 1048576 is smaller than requested bytes of 67108864
)x",
               {{"requested", 64.0}, {"device_free", 1.0}}},
              {"onnxruntime-arena",
               "bfc_arena.cc, 1.17",
               R"x([I:onnxruntime:log, bfc_arena.cc:26 BFCArena] Creating BFCArena for Cuda with following configs: initial_chunk_size_bytes: 1048576 max_dead_bytes_per_chunk: 134217728 initial_growth_chunk_size_bytes: 2097152 memory limit: 4294967296 arena_extend_strategy: 0
[I:onnxruntime:log, bfc_arena.cc:306 AllocateRawInternal] Extending BFCArena for Cuda. bin_num:14 (requested) num_bytes: 5000000 (actual) rounded_bytes:5000192
[I:onnxruntime:log, bfc_arena.cc:186 Extend] Extended allocation by 8388608 bytes.
[I:onnxruntime:log, bfc_arena.cc:189 Extend] Total allocated bytes: 8388608
)x",
               {{"grown", 8.0}, {"limit", 4096.0}}},
              {"onnxruntime-arena",
               "bfc_arena.cc, 1.10",
               R"x([I:onnxruntime:, bfc_arena.cc:280 AllocateRawInternal] Extending BFCArena for CUDAExecutionProvider. bin_num:17 rounded_bytes:33554432
[I:onnxruntime:, bfc_arena.cc:165 Extend] Extended allocation by 33554432 bytes.
)x",
               {{"grown", 32.0}}},
              {"rmm",
               "cuda_memory_resource.hpp, 24.10",
               R"x(MemoryError: std::bad_alloc: out_of_memory: CUDA error (failed to allocate 6442450944 bytes) at: /opt/rmm/cuda_memory_resource.hpp:62: cudaErrorMemoryAllocation out of memory
)x",
               {{"requested", 6144.0}}},
              {"rmm",
               "pool_memory_resource_impl.cpp, 25.02",
               R"x(std::bad_alloc: out_of_memory: RMM failure at:/rmm/pool_memory_resource.hpp:257: Maximum pool size exceeded (failed to allocate 10.371208 GiB): Not enough room to grow, current/max/try size = 78.000000 GiB, 79.000000 GiB, 10.371208 GiB
)x",
               {{"reserved", 79872.0}}},
              {"ggml",
               "ggml-cuda.cu, 2025",
               R"x(ggml_backend_cuda_buffer_type_alloc_buffer: allocating 21504.00 MiB on device 0: cudaMalloc failed: out of memory
alloc_tensor_range: failed to allocate CUDA0 buffer of size 22548578304
llama_model_load: error loading model: unable to allocate CUDA0 buffer
)x",
               {{"requested", 21504.0}}},
              {"ggml",
               "ggml-vulkan.cpp",
               R"x(ggml_vulkan: Device memory allocation of size 4294967296 failed.
ggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory
)x",
               {{"requested", 4096.0}}},
              {"paddle",
               "gpu_info.cc, 2.x",
               R"x(Out of memory error on GPU 0. Cannot allocate 1.500000GB memory on GPU 0, 22.100000GB memory has been allocated and available memory is only 900.000000MB.

Please check whether there is any other process using GPU 0.
)x",
               {{"requested", 1536.0}, {"device_free", 900.0}}},
              {"paddle",
               "cuda_allocator.cc, 1.7",
               R"x(Error: Out of memory error on GPU 0. Cannot allocate 28.125244MB memory on GPU 0, available memory is only 14.437500MB.
)x",
               {{"device_free", 14.4375}}},
              {"vllm",
               "worker.py, 0.7",
               R"x(INFO 05-01 08:00:00 [worker.py:267] the current vLLM instance can use total_gpu_memory (39.39GiB) x gpu_memory_utilization (0.90) = 35.45GiB
INFO 05-01 08:00:00 [worker.py:267] model weights take 30.10GiB; non_torch_memory takes 0.60GiB; PyTorch activation peak memory takes 5.20GiB; the rest of the memory reserved for KV Cache is -0.45GiB.
)x",
               {{"weights", 30822.4}, {"lacking", 460.8}}},
              {"vllm",
               "kv_cache_utils.py, 0.10",
               R"x((EngineCore_0 pid=77) ERROR 09-01 10:00:00 [core.py:708] ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than the available KV cache memory (5.23 GiB). Based on the available memory, the estimated maximum model length is 42832. Try
)x",
               {{"needed", 16384.0}}},
              {"sglang",
               "model_runner.py, 0.4",
               R"x([2025-03-14 09:20:11] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=63.12 GB, mem usage=15.06 GB.
[2025-03-14 09:20:12] KV Cache is allocated. #tokens: 371661, K size: 22.68 GB, V size: 22.68 GB
)x",
               {{"weights", 15421.44}}},
              {"sglang",
               "schedule_batch.py",
               R"x(Decode out of memory. Try to lower your batch size.
Try to allocate 64 tokens.
Available tokens: 12 
)x",
               {}},
              {"tgi",
               "server, 2.0",
               R"x(ERROR text_generation_client: Server error: Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`
)x",
               {}},
              {"tgi",
               "router, 1.4",
               R"x(INFO text_generation_router: router/src/main.rs:317: Setting max batch total tokens to 35984
)x",
               {}},
              {"mlx",
               "metal/allocator.cpp, 0.15",
               R"x(RuntimeError: [metal::malloc] Attempting to allocate 21474836480 bytes which is greater than the maximum allowed buffer size of 14302248960 bytes.
)x",
               {{"requested", 20480.0}}},
              {"mlx",
               "metal/allocator.cpp, 0.25",
               R"x(RuntimeError: [malloc] Unable to allocate 34359738368 bytes.
)x",
               {{"requested", 32768.0}}},
              {"megatron",
               "training/utils.py",
               R"x([Rank 3] (after 100 iterations) memory (MB) | allocated: 12345.67 | max allocated: 23456.78 | reserved: 25000.0 | max reserved: 26000.0
)x",
               {{"live", 12345.67}}},
              {"megatron",
               "DeepSpeed, see_memory_usage()",
               R"x([INFO] [utils.py:786:see_memory_usage] MA 12.5 GB         Max_MA 15.1 GB         CA 20.3 GB         Max_CA 20 GB
)x",
               {{"live", 12800.0}}},
              {"gpu-error",
               "CUDAException.cpp, 2.x",
               R"x(torch.AcceleratorError: CUDA error: out of memory
Search for `cudaErrorMemoryAllocation' in the CUDA documentation
)x",
               {}},
              {"gpu-error",
               "cuBLAS",
               R"x(RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`
)x",
               {}},
              {"bfc",
               "bfc_allocator.cc, TensorFlow 2.21",
               R"x(W0000 00:00:1795877436.080936    3904 bfc_allocator.cc:502] Allocator (mklcpu) ran out of memory trying to allocate 12.75MiB (rounded to 13369600)requested by op Fill
I0000 00:00:1795877436.081163    3904 bfc_allocator.cc:1072] Bin for 12.75MiB was 8.00MiB, Chunk State: 
I0000 00:00:1795877436.081168    3904 bfc_allocator.cc:1085] Next region of size 33554432
I0000 00:00:1795877436.081175    3904 bfc_allocator.cc:1105] InUse at 7fc941fff040 of size 8926464 next 8
I0000 00:00:1795877436.081178    3904 bfc_allocator.cc:1105] InUse at 7fc942882540 of size 24627968 next 18446744073709551615
I0000 00:00:1795877436.081216    3904 bfc_allocator.cc:1110]      Summary of in-use Chunks by size: 
I0000 00:00:1795877436.081258    3904 bfc_allocator.cc:1117] Sum Total of in-use chunks: 32.00MiB
I0000 00:00:1795877436.081261    3904 bfc_allocator.cc:1119] Total size in pool: 32.00MiB memory_limit_: 40.00MiB available size: 8.00MiB curr_region_allocation_bytes_: 64.00MiB
I0000 00:00:1795877436.081266    3904 bfc_allocator.cc:1128] Stats: 
Limit:                        40.00MiB
InUse:                        32.00MiB
MaxInUse:                     32.00MiB
)x",
               {{"requested", 12.75024414}, {"limit", 40.0}, {"live", 32.0}, {"reserved", 32.0}}},
              {"sglang",
               "model_runner.py, 2026",
               R"x([2026-01-01 10:00:00 TP0] Load weight begin. avail mem=22.80 GB
[2026-01-01 10:00:40 TP0] Load weight end. elapsed=40.0 s, type=BForCausalLM, avail mem=9.10 GB, mem usage=13.70 GB.
[2026-01-01 10:00:42 TP0] KV Cache is allocated. dtype: torch.float8_e4m3fn, #tokens: 61440, K size: 2.34 GB, V size: 2.34 GB
[2026-01-01 10:01:42 TP0] Capture cuda graph end. Time elapsed: 58.00 s. mem usage=3.70 GB. avail mem=0.40 GB.
)x",
               {{"weights", 14028.8},
                {"kv_cache", 4792.32},
                {"graphs", 3788.8},
                {"device_free", 409.6}}},
              {"vllm",
               "gpu_worker.py, 0.15",
               R"x(INFO [gpu_worker.py:857] Free memory on device (61.40/63.90 GiB) on startup. Desired GPU memory utilization is (0.9, 57.51 GiB). Actual usage is 31.20 GiB for weight, 3.10 GiB for peak activation, 0.40 GiB for non-torch memory, and 1.70 GiB for CUDAGraph memory. Current kv cache memory in use is 22.81 GiB.
)x",
               {{"weights", 31948.8}, {"graphs", 1740.8}, {"limit", 58890.24}, {"over", 1740.8}}},
              {"trtllm",
               "memoryCounters, 0.9",
               R"x([TensorRT-LLM][INFO] Memory usage when calculating max tokens in paged kv cache: total: 44.40 GiB, available: 0.35 GiB
[TensorRT-LLM][INFO] [MemUsageChange] Allocated 0.31 GiB for max tokens in paged KV cache (2560).
)x",
               {{"device", 45465.6}, {"kv_cache", 317.44}}},
              {"trtllm",
               "kvCacheManager, 0.7",
               R"x([TensorRT-LLM][INFO] Max tokens in paged KV cache: 27200. Allocating 14260633600 bytes.
)x",
               {{"kv_cache", 13600.0}}},
              {"ggml-start",
               "llama-model.cpp, 2025",
               R"x(load_tensors: offloaded 33/33 layers to GPU
load_tensors:        CUDA0 model buffer size =  4403.49 MiB
llama_kv_cache:      CUDA0 KV buffer size =  4096.00 MiB
llama_context:      CUDA0 compute buffer size =   560.00 MiB
)x",
               {{"weights", 4403.49},
                {"kv_cache", 4096.0},
                {"activations", 560.0},
                {"live", 9059.49}}},
              {"ggml-start",
               "Ollama, device.go",
               R"x(time=2025-10-24T08:26:00.310Z level=INFO source=device.go:240 msg="model weights" device=CUDA0 size="11.5 GiB"
time=2025-10-24T08:26:00.310Z level=INFO source=device.go:251 msg="kv cache" device=CUDA0 size="936.0 MiB"
time=2025-10-24T08:26:00.310Z level=INFO source=device.go:262 msg="compute graph" device=CUDA0 size="98.0 MiB"
)x",
               {{"weights", 11776.0}, {"kv_cache", 936.0}, {"live", 12810.0}}},
              {"nvidia-smi",
               "driver 550",
               R"x(|   0  NVIDIA A100-SXM4-40GB          Off |   00000000:01:00.0 Off |                    0 |
| N/A   45C    P0             70W / 400W |   30740MiB /  40960MiB |     98%      Default |
|    0   N/A  N/A      3001      C   python                                   30120MiB |
)x",
               {{"live", 30740.0}, {"device", 40960.0}}},
              {"nvidia-smi",
               "driver 418",
               R"x(|  GPU       PID   Type   Process name                             Usage      |
|    0      3001      C   python3                                  30120MiB |
)x",
               {}},
              {"torch-printed",
               "a program's own lines",
               R"x([rank0] memory_allocated after wrapping: 31.2 GB
[rank0] memory_reserved after wrapping: 57.9 GB
)x",
               {{"live", 31948.8}, {"reserved", 59289.6}}},
              {"torch-printed",
               "a tutorial's lines",
               R"x(Memory Usage:
Allocated: 3.5 GB
Cached:    4.5 GB
)x",
               {{"live", 3584.0}, {"reserved", 4608.0}}},
              {"jax-stats",
               "memory_stats() printed",
               R"x({'num_allocs': 4401, 'bytes_in_use': 9663676416, 'peak_bytes_in_use': 12884901888, 'bytes_limit': 17179869184, 'largest_free_block_bytes': 0}
)x",
               {{"live", 9216.0}, {"live_peak", 12288.0}, {"limit", 16384.0}}},
              {"jax-stats",
               "memory_stats() as JSON",
               R"x({"bytes_in_use": 1073741824, "bytes_limit": 17179869184}
)x",
               {{"live", 1024.0}, {"limit", 16384.0}}},
              {"faiss",
               "StandardGpuResources.cpp, 1.8",
               R"x(RuntimeError: Error in virtual void* faiss::gpu::StandardGpuResourcesImpl::allocMemory(const faiss::gpu::AllocRequest&) at StandardGpuResources.cpp:443: Error: 'err == cudaSuccess' failed: Failed to cudaMalloc 2147483648 bytes on device 1 (error 2 out of memory
Outstanding allocations:
Alloc type FlatData: 1 allocations, 6442450944 bytes
Alloc type TemporaryMemoryBuffer: 1 allocations, 1610612736 bytes
)x",
               {{"requested", 2048.0}}},
              {"faiss",
               "StandardGpuResources.cpp, 1.7, without what is held",
               R"x(failed: Failed to cudaMalloc 1073741824 bytes on device 0 (error 2 out of memory
)x",
               {{"requested", 1024.0}}},
              {"xgboost",
               "device_vector.cu, 3.0",
               R"x(xgboost.core.XGBoostError: [10:00:00] device_vector.cu:23: Memory allocation error on worker 0: std::bad_alloc: cudaErrorMemoryAllocation: out of memory
- Free memory: 21.5000GB
- Requested memory: 30GB
)x",
               {{"requested", 30720.0}, {"device_free", 22016.0}, {"lacking", 8704.0}}},
              {"xgboost",
               "device_helpers.cuh, 1.5",
               R"x(XGBoostError: device_helpers.cuh:447: Memory allocation error on worker 0: std::bad_alloc
- Free memory: 1073741824
- Requested memory: 9.5GB
)x",
               {{"requested", 9728.0}}},
              {"tf-async",
               "gpu_cudamallocasync_allocator.cc, 2.12",
               R"x(E tensorflow/core/common_runtime/gpu/gpu_cudamallocasync_allocator.cc:288] gpu_async_0 cuMemAllocAsync failed to allocate 46137344 bytes: CUDA error: out of memory (CUDA_ERROR_OUT_OF_MEMORY)
 Reported by CUDA: Free memory/Total memory: 21430272/6442450944
)x",
               {{"requested", 44.0}, {"device", 6144.0}}},
              {"tf-async",
               "the same of XLA",
               R"x(gpu_async_0 cuMemAllocFromPoolAsync failed to allocate 2147483648 bytes: RESOURCE_EXHAUSTED
)x",
               {{"requested", 2048.0}}},
              {"triton",
               "OutOfResources, 3.x",
               R"x(triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 180224, Hardware limit: 166912. Reducing block sizes or `num_stages` may help.
)x",
               {{"needed", 0.171875}}},
              {"triton",
               "the same with commas",
               R"x(OutOfResources: out of resource: shared memory, Required: 131,072, Hardware limit: 101,376.
)x",
               {{"needed", 0.125}}},
              {"other-pool",
               "torch-directml",
               R"x(RuntimeError: Could not allocate tensor with 536870912 bytes. There is not enough GPU video memory available!
)x",
               {{"requested", 512.0}}},
              {"other-pool",
               "CUDA.jl",
               R"x(ERROR: Out of GPU memory trying to allocate 8.016 MiB
Effective GPU memory usage: 91.54% (14.446 GiB/15.782 GiB)
)x",
               {{"requested", 8.016}, {"device", 16160.768}}},
          };
  return kSamples;
}

}  // namespace memreplay
