#include "trace/reader_samples.hpp"

#include <algorithm>
#include <sstream>

#include "trace/pickle_bytes.hpp"
#include "trace/profile_bytes.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"
#include "trace/xla_bytes.hpp"
#include "trace/xspace_bytes.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kSizeHere = "SIZE";

std::string csv_as_mrt() {
  std::ostringstream out;
  writer_for("a.mrt").write(read_recording("t.csv", "op,id,size\na,0,100\na,1,8\nf,0,\n", {}), out);
  return std::move(out).str();
}

std::vector<ReaderSample> make_samples() {
  return {
      {.format = "torch-snapshot",
       .bytes = snapshot(entry("alloc", 4096, 100) + entry("free_requested", 4096, 100) +
                         entry("free_completed", 4096, 100)),
       .events = "a0:100 r0:100 c0:100",
       .is_text = false},
      {.format = "torch-json",
       .bytes = R"({"segments": [], "device_traces": [[
{"action": "alloc", "addr": 4096, "size": SIZE, "stream": 0},
{"action": "free_requested", "addr": 4096, "size": SIZE, "stream": 0},
{"action": "free_completed", "addr": 4096, "size": SIZE, "stream": 0}]]})",
       .events = "a0:100 r0:100 c0:100"},
      {.format = "csv",
       .bytes = "op,id,size,stream\na,0,SIZE,0\na,1,8,3\nf,0,,0\n",
       .events = "a0:100 a1:8@2 f0:100",
       .separator = ','},
      {.format = "mrt", .bytes = csv_as_mrt(), .events = "a0:100 a1:8 f0:100", .is_text = false},
      {.format = "minimalloc",
       .bytes = "id,lower,upper,size,alignment,gaps\n"
                "w0,0,40,SIZE,256,\na1,3,17,1536,256,8-12\na2,5,30,2000,1,6-9@0:512\n",
       .events = "a0:100 a1:1536 a2:2000 f1:1536 f2:2000 f0:100",
       .separator = ','},
      {.format = "umpire",
       .bytes =
           R"({"category":"operation","name":"allocate","numeric_args":{"size":SIZE},"string_args":{"allocator_ref":"0x61a0","pointer":"0x7f00a000"},"tags":{},"timestamp":1000}
{"category":"operation","name":"reallocate","numeric_args":{"size":36},"string_args":{"allocator_ref":"0x61a0","current_ptr":"0x7f00a000"},"timestamp":2000}
{"category":"operation","name":"reallocate","string_args":{"new_ptr":"0x7f00a000","allocator_ref":"0x61a0"},"timestamp":3000}
)",
       .events = "a0:100 f0:100 a0:36"},
      {.format = "umpire",
       .bytes =
           R"({ "kind":"replay", "uid":7, "timestamp":1558388052000000000, "event": "allocate", "payload": { "allocator_ref": "0x20", "size": SIZE } }
{ "kind":"replay", "uid":7, "timestamp":1558388052000002000, "event": "allocate", "payload": { "allocator_ref": "0x20", "size": SIZE }, "result": { "memory_ptr": "0xa0" } }
{ "kind":"replay", "uid":7, "timestamp":1558388052000004000, "event": "deallocate", "payload": { "allocator_ref": "0x20", "memory_ptr": "0xa0" } }
)",
       .events = "a0:100 f0:100"},
      {.format = "heaptrack",
       .bytes = "v 10500 3\nt 4011d0 0\nt 401250 1\n+ SIZE 2 7f10a0\nc 0a\n- 7f10a0\n",
       .events = "a0:100 f0:100",
       .is_hexadecimal = true},
      {.format = "heaptrack",
       .bytes = "v 10000 2\ns main\ns main.cpp\ni 401000 2 1 2 20\nt 1 0\na SIZE 1\n+ 0\n- 0\n",
       .events = "a0:100 f0:100",
       .is_hexadecimal = true},
      {.format = "rmm",
       .bytes = "Thread,Time,Action,Pointer,Size,Stream\n"
                "7001,09:15:02.000101,allocate,0x7f2a00000000,SIZE,0\n"
                "7001,09:15:02.000130,allocate,0x7f2a00000400,4096,0x55d0c8a0\n"
                "7002,09:15:02.000177,allocate failure,(nil),9000000000,0\n"
                "7001,09:15:02.000200,free,0x7f2a00000000,SIZE,0\n",
       .events = "a0:100 a1:4096@2 x:9000000000 f0:100",
       .separator = ','},
      {.format = "mtrace",
       .bytes = "= Start\n"
                "@ ./app:(build_index+3c)[0x11c] + 0x5581a0 0xSIZE\n"
                "@ ./app:[0x13f] + 0x5581f0 0x100\n"
                "@ ./app:[0x151] < 0x5581a0\n"
                "@ ./app:[0x151] > 0x558300 0x80\n"
                "@ ./app:[0x160] - 0x5581f0\n"
                "= End\n",
       .events = "a0:100 a1:256 f0:100 a0:128 f1:256",
       .is_hexadecimal = true},
      {.format = "stalloc",
       .bytes = "Iteration Index : 0\n1 0x7e1000 SIZE 0\n1 0x7e2000 1048576 0\n0 0x7e1000 SIZE 0\n",
       .events = "m a0:100 a1:1048576 f0:100"},
      {.format = "kineto",
       .bytes = R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":11,"tid":11,"ts":105.25,
 "args":{"Addr":139000000000512,"Bytes":SIZE,"Device Type":1,"Device Id":0,"Ev Idx":0}},
{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":11,"tid":11,"ts":140.5,
 "args":{"Addr":139000000000512,"Bytes":-SIZE,"Device Type":1,"Device Id":0,"Ev Idx":1}}]})",
       .events = "a0:100 f0:100"},
      {.format = "intervals",
       .bytes = "0 9 SIZE\n2 5 200\n",
       .events = "a0:100 a1:200 f1:200 f0:100"},
      {.format = "nsight",
       .bytes = "start,globalPid,deviceId,address,bytes,memKind,memoryOperationType,streamId,name\n"
                "1000,0,0,4096,SIZE,2,0,13,\n9000,0,0,4096,SIZE,2,1,13,\n",
       .events = "a0:100 f0:100",
       .separator = ','},
      {.format = "malloclab",
       .bytes = "20000\n2\n4\n1\na 0 SIZE\na 1 48\nf 0\nr 1 96\n",
       .events = "a0:100 a1:48 f0:100 f1:48 a1:96"},
      {.format = "logalloc",
       .bytes = "1 1 malloc(SIZE)=#1\n1 2 calloc(4,42)=#3\n1 1 free(#1)\n1 2 realloc(#3,84)=#1\n",
       .events = "a0:100 a1:168 f0:100 f1:168 a1:84"},
      {.format = "lttng",
       .bytes =
           "[09:15:02.000500] (+0.000001) host lttng_ust_libc:malloc: { cpu_id = 2 }, { vpid = 7, "
           "vtid = 8 }, { size = SIZE, ptr = 0x55D0 }\n"
           "[09:15:02.000600] (+0.000100) host lttng_ust_libc:free: { cpu_id = 2 }, { vpid = 7, "
           "vtid = 8 }, { ptr = 0x55D0 }\n",
       .events = "a0:100 f0:100"},
      // States without events.
      {.format = "massif",
       .bytes = "desc: (none)\ncmd: ./app\ntime_unit: i\n#-----------\nsnapshot=0\n#-----------\n"
                "time=5\nmem_heap_B=SIZE\nmem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree=peak\n"
                "n1: SIZE (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
                " n0: SIZE 0x1091C0: main (m.c:4)\n"},
      {.format = "dhat",
       .bytes = R"json({"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,
"pps":[{"tb":900,"tbk":9,"gb":SIZE,"gbk":1,"fs":[1]}],"ftbl":["[root]","0x5: main (m.c:4)"]})json"},
      {.format = "pprof",
       .bytes = "heap profile: 1: 100 [ 1: 100] @ heap\n 1: SIZE [ 1: 100] @ 0x10 0x20\n"},
      {.format = "pprof", .bytes = jax_profile(100, "cuda:0"), .is_text = false},
      {.format = "xspace",
       .bytes = xspace({{{.ps = 1, .address = 16, .requested = 100, .op = "Fill"},
                         {.ps = 2, .allocates = false, .address = 16, .requested = 100}}},
                       512),
       .events = "a0:100 f0:100",
       .is_text = false},
      {.format = "xla-text",
       .bytes = "HloLiveRange (max 5):\n  BufferLiveRange:\n    a{}:0-2\n    b{}:1-4\n"
                "BufferAssignment:\nallocation 1: size 300, page 0, preallocated-temp:\n"
                " value: <1 a @0> (size=SIZE,offset=0): f32[25]{0}\n"
                " value: <2 b @0> (size=60,offset=128): f32[15]{0}\n",
       .events = "a0:100 a1:60 f0:100 f1:60"},
      {.format = "xla-hlo",
       .bytes = xla_module({{1, 100, 0}, {2, 100, 0}, {3, 60, 128}},
                           {{'a', 1}, {'f', 1}, {'s', 2, 1}, {'a', 3}, {'f', 2}, {'f', 3}}, 192),
       .events = "a0:100 a1:60 f0:100 f1:60",
       .is_text = false},
      // For info alone, without a trace.
      {.format = "torch-timeline",
       .bytes = "[[1690000000000000], [[0, SIZE, 0, 0, 0, 0, 0, 0, 0]]]"},
      {.format = "vma",
       .bytes = R"({"Total":{"AllocationCount":1,"UnusedRangeCount":1},"DefaultPools":{"Type 0":{
"Blocks":{"0":{"TotalBytes":4096,"Suballocations":[{"Offset":0,"Type":"BUFFER","Size":SIZE}]}}}}})"},
  };
}

}  // namespace

std::string ReaderSample::with_size(std::string_view size) const {
  std::string made = bytes;
  for (std::size_t at = 0; is_text && (at = made.find(kSizeHere, at)) != made.npos;) {
    made.replace(at, kSizeHere.size(), size);
  }
  return made;
}

const std::vector<ReaderSample>& reader_samples() {
  static const std::vector<ReaderSample> kSamples = [] {
    std::vector<ReaderSample> samples = make_samples();
    std::erase_if(samples, [](const ReaderSample& sample) {  // of extensions that are not built
      return std::ranges::find(readers(), sample.format, &ReaderInfo::name) == readers().end();
    });
    return samples;
  }();
  return kSamples;
}

}  // namespace memreplay
