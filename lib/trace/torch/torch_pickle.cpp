#include "trace/torch/torch_pickle.hpp"

#include <fmt/format.h>

#include "trace/pickle/pickle_machine.hpp"
#include "trace/torch/pickle_view.hpp"
#include "trace/torch/plain_copy.hpp"
#include "trace/torch/snapshot_conversion.hpp"
#include "trace/unpacking.hpp"

namespace memreplay {
namespace {

TorchSnapshot read_once(const Input& input, bool converts_early) {
  PickleStore store(converts_early);
  const PickleValue root = PickleMachine(input, store).run();
  return convert_snapshot(PickleView(store, root), input.name, store.texts, input.bytes.size(),
                          input.host);
}

Recording read(const Input& input, const ReadOptions& /*options*/) {
  const auto interpret = input.host ? host_recording : torch_recording;
  return interpret(read_torch_pickle(input), input.name, std::string(kTorchPickleFormat),
                   torch_pickle_detail(input));
}

void copy(const Input& input, ValueWriter& writer) {
  PickleStore store(false);
  const PickleValue root = PickleMachine(input, store).run();
  write_plain(input, store, root, writer);
}

}  // namespace

TorchSnapshot read_torch_pickle(const Input& input) {
  for (bool converts_early = true;;) {
    try {
      return read_once(input, converts_early);
    } catch (const NeedsPlainValues&) {
      converts_early = false;
    } catch (const NeedsAllBytes&) {
      input.arrival->wait_beyond(input.bytes.size());
    }
  }
}

bool is_pickle(const Input& input) {
  const std::string_view bytes = input.bytes;
  if (bytes.size() < 2) return false;
  if (static_cast<unsigned char>(bytes[0]) == 0x80) return true;
  // Without PROTO: "(lp0", "(dp0" (protocol 0), "]q\0", "}q\0" (protocol 1), "(l." and "}." bare.
  const bool text = bytes[0] == '(' && (bytes[1] == 'l' || bytes[1] == 'd');
  const bool binary = (bytes[0] == ']' || bytes[0] == '}') &&
                      std::string_view("qr(.").find(bytes[1]) != std::string_view::npos;
  return text || binary;
}

std::string torch_pickle_detail(const Input& input) {
  return fmt::format("PyTorch snapshot, protocol {}", pickle_protocol(input.bytes));
}

ReaderInfo torch_pickle_reader() {
  return {.name = kTorchPickleFormat,
          .summary = "PyTorch memory snapshot (_dump_snapshot), a pickle",
          .recognises = is_pickle,
          .read = read,
          .copy = copy,
          .reads_arriving = true};
}

}  // namespace memreplay
