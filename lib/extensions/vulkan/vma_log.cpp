#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "extensions/heaps/live_heap.hpp"
#include "trace/json/json_node.hpp"
#include "trace/log_lines.hpp"
#include "trace/pointer_log.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kWhatVmaWrites = "a dump of VMA (vmaBuildStatsString) or D3D12MA";
constexpr int kVmaDevice = 0;

class VmaReader {
 public:
  explicit VmaReader(const Input& input)
      : recording_(recording_of_log(input, "vma", "dump of the Vulkan Memory Allocator")),
        heap_(recording_) {}

  Recording read(const JsonNode& root) {
    recording_.lacks = {"events", "call sites"};
    if (root.has("General") && root.at("General").has("API") &&
        root.at("General").at("API").text_or_written().find("Direct3D") != std::string::npos) {
      recording_.detail = "dump of the D3D12 Memory Allocator (as of VMA)";
    }
    find_host_types(root);
    if (root.has("MemoryInfo")) find_host_types(root.at("MemoryInfo"));
    visit(root, 0);
    if (!has_map_) add_totals(root.at("Total"));
    heap_.finish(kVmaDevice);
    return std::move(recording_);
  }

 private:
  /// Blocks and dedicated allocations stand at other depths in each release.
  void visit(const JsonNode& node, int depth) {
    constexpr int kDeepestVmaBlock = 12;
    if (depth > kDeepestVmaBlock) return;
    if (node.is_array()) {
      for (const JsonNode& element : node.elements()) visit(element, depth + 1);
      return;
    }
    if (!node.is_object()) return;
    if (node.has("Suballocations")) return add_block(node);
    for (const auto& [key, member] : node.members()) {
      if (key.starts_with("Type ")) {
        device_ = host_types_.contains(key) ? kHostMemory : kVmaDevice;
      }
      if (key == "DedicatedAllocations") {
        add_dedicated(member);
      } else if (key != "Total" && key != "MemoryInfo" && key != "General") {
        visit(member, depth + 1);
      }
    }
  }
  /// The types of memory in heaps that are not the device's own: "Heap 1": {"Flags": [], …}.
  void find_host_types(const JsonNode& heaps) {
    for (const auto& [name, heap] : heaps.members()) {
      if (!name.starts_with("Heap ") || !heap.is_object() || !heap.has("Flags")) continue;
      const std::string flags = heap.at("Flags").text_or_written();
      if (flags.find("DEVICE_LOCAL") != flags.npos) continue;
      const JsonNode types = heap.has("MemoryPools") ? heap.at("MemoryPools") : heap;
      for (const auto& [type, ignored] : types.members()) {
        if (type.starts_with("Type ")) host_types_.insert(type);
      }
    }
  }
  void add_block(const JsonNode& block) {
    has_map_ = true;
    heap_.end_segment(device_);
    const Bytes size = size_in(block, "TotalBytes");
    Bytes end = 0;
    for (const JsonNode& part : block.at("Suballocations").elements()) {
      const Bytes offset = size_in(part, "Offset");
      if (offset < end || offset > size) part.at("Offset").refuse("one after those before");
      heap_.add_free(device_, offset - end);
      end = offset + add(part);
      if (end > size) part.refuse("an end within TotalBytes");
    }
    heap_.add_free(device_, size - end);
  }
  void add_dedicated(const JsonNode& node) {
    if (node.is_object()) {  // up to 2.3 by type of memory
      for (const auto& [type, list] : node.members()) {
        device_ = host_types_.contains(type) ? kHostMemory : kVmaDevice;
        add_dedicated(list);
      }
      return;
    }
    has_map_ = true;
    for (const JsonNode& part : node.elements()) {
      heap_.end_segment(device_);
      add(part);
    }
  }
  /// Returns its size.
  Bytes add(const JsonNode& part) {
    const Bytes size = size_in(part, "Size");
    const std::string type = part.has("Type") ? part.at("Type").text_or_written() : "";
    if (type == "FREE") {
      heap_.add_free(device_, size);
      return size;
    }
    std::string name = type;
    for (const char* const key : {"Name", "CustomData", "UserData"}) {
      if (part.has(key)) name += (name.empty() ? "" : " ") + part.at(key).text_or_written();
    }
    heap_.add(device_, size, 1, name.empty() ? 0 : heap_.stack({heap_.frame(name)}));
    return size;
  }
  /// For a dump without its detailed map.
  void add_totals(const JsonNode& total) {
    recording_.lacks.emplace_back("single blocks (it has no detailed map)");
    const bool is_new = total.has("AllocationBytes");
    const Bytes live = size_in(total, is_new ? "AllocationBytes" : "UsedBytes");
    const Bytes unused =
        is_new ? size_in(total, "BlockBytes") - std::min(live, size_in(total, "BlockBytes"))
               : size_in(total, "UnusedBytes");
    const char* const count = is_new ? "AllocationCount" : "Allocations";
    heap_.add(kVmaDevice, live, total.has(count) ? total.at(count).whole() : 1, 0);
    heap_.add_free(kVmaDevice, unused);
  }
  static Bytes size_in(const JsonNode& node, const std::string& key) {
    const Bytes size = node.at(key).whole();
    if (size >= kMostBytes) node.at(key).refuse("less than 1 EiB");
    return size;
  }

  Recording recording_;
  LiveHeap heap_;
  std::set<std::string> host_types_;
  int device_ = kVmaDevice;
  bool has_map_ = false;
};

Recording read_vma(const Input& input, const ReadOptions& /*options*/) {
  const auto document =
      parse_json(input.name, std::string(input.bytes), std::string(kWhatVmaWrites));
  return VmaReader(input).read(JsonNode(input.name, "", *document));
}

bool is_vma(const Input& input) {
  const std::string_view head = input.bytes.substr(0, 1 << 16);
  const std::size_t first = head.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (first == head.npos || head[first] != '{' || head.find("\"Total\"") == head.npos) return false;
  return head.find("\"UnusedRangeCount\"") != head.npos ||
         head.find("\"UnusedRanges\"") != head.npos;
}

}  // namespace

// vmaBuildStatsString of VMA 2.0 to 3.3 and BuildStatsString of D3D12MA 1.0 to 3.0.
ReaderInfo vma_reader() {
  return {.name = "vma",
          .summary =
              "A JSON dump of the Vulkan Memory Allocator (VMA), or of D3D12MA: its blocks "
              "at one moment; it has no events.",
          .recognises = is_vma,
          .read = read_vma};
}

}  // namespace memreplay
