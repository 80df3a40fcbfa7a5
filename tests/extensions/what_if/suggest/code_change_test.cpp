#include <gmock/gmock.h>

#include "extensions/what_if/suggest/suggest_report.hpp"

namespace memreplay {
namespace {

using testing::ElementsAre;

SuggestedEdit block(SuggestedEdit::Kind kind) {
  return {.text = {},
          .kind = kind,
          .code = "tower.py:37-38",
          .function = "forward",
          .calls = {"tower.py:49"}};
}

TEST(CodeChange, OneCallIsReplacedWhereItStands) {
  const CodeChange change = code_change(block(SuggestedEdit::Kind::checkpoint));
  EXPECT_EQ(change.what, "checkpoint forward (tower.py:37-38) where tower.py:49 calls it");
  EXPECT_THAT(change.python, ElementsAre("from torch.utils.checkpoint import checkpoint",
                                         "# tower.py:49, in place of: x = layer(x)",
                                         "x = checkpoint(layer, x, use_reentrant=False)"));
}

TEST(CodeChange, AFunctionOfSeveralCallsIsDecorated) {
  SuggestedEdit edit = block(SuggestedEdit::Kind::checkpoint);
  edit.code = "tower.py:19-19";
  edit.calls = {"tower.py:37", "tower.py:38"};
  const CodeChange change = code_change(edit);
  EXPECT_EQ(change.what, "checkpoint every run of forward (tower.py:19), by a decorator");
  EXPECT_EQ(change.python.back(), "@checkpointed  # right above the def of forward (tower.py:19)");
}

TEST(CodeChange, WhatAContainerCallsIsDecoratedOrLoopedOver) {
  SuggestedEdit edit = block(SuggestedEdit::Kind::checkpoint);
  edit.called_directly = false;
  EXPECT_EQ(code_change(edit).what,
            "checkpoint every run of forward (tower.py:37-38), by a decorator");
  edit.only = 2;
  EXPECT_EQ(
      code_change(edit).what,
      "checkpoint run 0, 2, 4, … of forward (tower.py:37-38), in a loop in place of the call at "
      "tower.py:49");
  EXPECT_EQ(code_change(edit).python[1],
            "for i, layer in enumerate(layers):  # in place of the call");
}

TEST(CodeChange, ALoopChoosesWhichRunsAreCheckpointed) {
  SuggestedEdit edit = block(SuggestedEdit::Kind::checkpoint);
  edit.only = 3;
  EXPECT_EQ(code_change(edit).what,
            "checkpoint run 0, 3, 6, … of forward (tower.py:37-38), in the loop at tower.py:49");
  edit.only = 1;
  edit.group = 2;
  EXPECT_EQ(code_change(edit).python.back(),
            "    x = checkpoint(torch.nn.Sequential(*layers[i : i + 2]), x, use_reentrant=False)");
}

TEST(CodeChange, WhatIsSavedIsMovedFromTheCallOrFromTheWholeForwardPass) {
  SuggestedEdit edit = block(SuggestedEdit::Kind::offload);
  EXPECT_EQ(code_change(edit).python[1], "with save_on_cpu():  # around tower.py:49");
  edit.code.clear();
  edit.calls.clear();
  EXPECT_EQ(code_change(edit).python[1],
            "with save_on_cpu():  # around the forward pass, without backward()");
}

TEST(CodeChange, AModuleOfAPackageIsFoundByItsCode) {
  SuggestedEdit edit = block(SuggestedEdit::Kind::checkpoint);
  edit.package = "timm";
  edit.only = 2;
  const CodeChange change = code_change(edit);
  EXPECT_EQ(change.what,
            "checkpoint every 2nd of the modules of timm with forward (tower.py:37-38)");
  EXPECT_THAT(change.python,
              ElementsAre("import functools, inspect",
                          "from torch.utils.checkpoint import checkpoint", "def is_layer(module):",
                          "    code = inspect.unwrap(type(module).forward).__code__",
                          "    return code.co_filename.endswith(\"tower.py\") and 37 in [line for "
                          "*_, line in code.co_lines()]",
                          "for layer in [m for m in model.modules() if is_layer(m)][::2]:",
                          "    layer.forward = functools.partial(checkpoint, layer.forward, "
                          "use_reentrant=False)"));
  edit.only = 1;
  edit.kind = SuggestedEdit::Kind::offload;
  EXPECT_EQ(code_change(edit).what,
            "move to the host, and back for the backward pass, what is saved by the modules of "
            "timm with forward (tower.py:37-38)");
  EXPECT_EQ(code_change(edit).python.back(),
            "    layer.forward = functools.partial(moved, layer.forward)");
}

}  // namespace
}  // namespace memreplay
