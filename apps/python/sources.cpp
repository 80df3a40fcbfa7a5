#include "sources.hpp"

#include <cstdint>
#include <utility>

#include "trace/python/python_view.hpp"
#include "trace/reader.hpp"
#include "trace/torch/snapshot_conversion.hpp"
#include "trace/torch/torch_snapshot.hpp"

namespace memreplay {
namespace {

namespace py = pybind11;

class HeldBytes final : public RecordingSource {
 public:
  explicit HeldBytes(const py::bytes& content)
      : held_(content), content_(std::string_view(content)) {}

  Recording read(const std::string& name) const override {
    return read_recording(name, content_, {});
  }

 private:
  py::bytes held_;
  std::string_view content_;
};

class HeldSnapshot final : public RecordingSource {
 public:
  explicit HeldSnapshot(TorchSnapshot snapshot) : snapshot_(std::move(snapshot)) {}

  Recording read(const std::string& name) const override {
    return torch_recording(TorchSnapshot(snapshot_), name, std::string(kTorchPickleFormat),
                           "PyTorch snapshot, in memory");
  }

 private:
  TorchSnapshot snapshot_;
};

}  // namespace

std::unique_ptr<RecordingSource> source_of_bytes(const py::bytes& content) {
  return std::make_unique<HeldBytes>(content);
}

std::unique_ptr<RecordingSource> source_of_snapshot(const py::object& snapshot,
                                                    const std::string& name) {
  SnapshotTexts texts;
  // What is in memory already is as large as it is.
  return std::make_unique<HeldSnapshot>(
      convert_snapshot(PythonView(snapshot), name, texts, UINT64_MAX));
}

}  // namespace memreplay
