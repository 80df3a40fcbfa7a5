#include "trace/frame_kind.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

FrameKind of_file(std::string_view file) { return frame_kind("f", file); }

TEST(FrameKind, PackagesAreOnesInAnySpelling) {
  for (const char* file :
       {"/venv/lib/python3.12/site-packages/einops/einops.py",
        "C:\\py\\Lib\\site-packages\\einops\\einops.py", "c:/py/lib/SITE-PACKAGES/einops/einops.py",
        "/usr/lib/python3/dist-packages/numpy/core.py",
        "/opt/eggs/timm-1.0-py3.8.egg/timm/models.py", "/opt/miniconda3/pkgs/einops-0.8/einops.py",
        "/p/.venv/einops/einops.py", "site-packages/einops.py"}) {
    EXPECT_EQ(of_file(file), FrameKind::package) << file;
  }
  EXPECT_EQ(frame_kind("<module>", "/p/.venv/bin/accelerate"), FrameKind::package);
}

TEST(FrameKind, PyTorchAndTheInterpreterAreTheFramework) {
  for (const char* file :
       {"/venv/lib/python3.12/site-packages/torch/nn/functional.py",
        "C:\\py\\Lib\\site-packages\\torch\\functional.py", "/src/pytorch/torch/optim/adam.py",
        "/home/me/.local/share/uv/python/cpython-3.13.14-linux/lib/python3.13/contextlib.py",
        "C:\\Users\\me\\AppData\\Local\\Programs\\Python\\Python311\\Lib\\contextlib.py",
        "D:\\miniconda3\\envs\\ml\\Lib\\threading.py", "C:\\py\\Lib\\contextlib.py",
        "<frozen runpy>"}) {
    EXPECT_EQ(of_file(file), FrameKind::framework) << file;
  }
}

TEST(FrameKind, WhatAPersonWroteIsTheirOwn) {
  for (const char* file : {"/home/me/model.py", "D:/Dev/x/model.py", "D:\\Dev\\lib\\model.py",
                           "model.py", "/tmp/ipykernel_4711/12345.py", "<ipython-input-3-5fd1>",
                           "<stdin>", "/home/me/pkgs/model.py", "/home/me/torch/model.py"}) {
    EXPECT_EQ(of_file(file), FrameKind::own) << file;
  }
  EXPECT_EQ(frame_kind("<module>", "/home/me/train"), FrameKind::own);
}

TEST(FrameKind, WhatAProgramWroteIsGenerated) {
  const std::string kernel = "c" + std::string(51, 'a') + ".py";
  for (const std::string& file :
       {"/tmp/torchinductor_me/ab/" + kernel, "C:\\Temp\\torchinductor_me\\ab\\" + kernel,
        "/cache/ab/" + kernel, std::string("<eval_with_key>.12"), std::string("<string>")}) {
    EXPECT_EQ(of_file(file), FrameKind::generated) << file;
  }
  EXPECT_EQ(of_file("/home/me/" + kernel.substr(1)), FrameKind::own);
}

TEST(FrameKind, FramesOfCppSayWhetherTheyNameAnything) {
  EXPECT_EQ(frame_kind("torch::unwind::unwind()", "??"), FrameKind::plumbing);
  EXPECT_EQ(frame_kind("<unknown>", "??"), FrameKind::native);
  EXPECT_EQ(frame_kind("at::_ops::mul::call(c10::SymInt)", ""), FrameKind::native);
  EXPECT_EQ(frame_kind("torch::autograd::Engine::thread_main()", "??"), FrameKind::engine);
  EXPECT_EQ(frame_kind("torch::autograd::InputMetadata::reduce_grad(int)", "??"),
            FrameKind::gradient_sums);
  EXPECT_EQ(frame_kind("torch::autograd::VariableType::mm(int)", "??"), FrameKind::plumbing);
  EXPECT_EQ(frame_kind("torch::autograd::generated::MmBackward0::apply(int)", "a.cpp"),
            FrameKind::backward);
}

TEST(FrameKind, WhatStandsBeforeAnAllocatorIsNoPlace) {
  for (const auto& [name, file] : std::vector<std::pair<std::string, std::string>>{
           {"<dhat::Alloc as core::alloc::global::GlobalAlloc>::alloc", "src/lib.rs"},
           {"alloc::raw_vec::RawVec<T,A>::grow_one", "alloc/src/raw_vec.rs"},
           {"core::iter::traits::iterator::Iterator::collect", "/rustc/1/library/core/src/a.rs"},
           {"__rust_alloc", ""},
           {"operator new(unsigned long)", "/usr/lib/libstdc++.so.6"},
           {"std::vector<int>::push_back(int&&)", "/usr/include/c++/12/bits/stl_vector.h"},
           {"je_malloc", ""},
           {"PyMem_Malloc", ""}}) {
    EXPECT_EQ(frame_kind(name, file), FrameKind::plumbing) << name;
  }
  EXPECT_EQ(frame_kind("app::mesh::load", "src/mesh.rs"), FrameKind::native);
  EXPECT_EQ(frame_kind("core::Engine::load()", "src/core/engine.cpp"), FrameKind::native);
}

TEST(FrameKind, ThePackageOfAFileIsNamedAsItIsWritten) {
  EXPECT_EQ(package_of("C:\\py\\Lib\\site-packages\\Transformers\\models\\llama.py"),
            "Transformers");
  EXPECT_EQ(package_of("/lib/python3/site-packages/six.py"), "six");
  EXPECT_EQ(package_of("/home/me/model.py"), "");
}

TEST(FrameKind, TheBackwardFunctionIsFoundInItsName) {
  EXPECT_EQ(backward_function("torch::autograd::generated::MmBackward0::apply(std::vector<int>)"),
            "MmBackward0");
  EXPECT_EQ(backward_function("torch::autograd::generated::SumBackward0_apply_functional(int)"),
            "SumBackward0");
  EXPECT_EQ(backward_function("torch::autograd::AccumulateGrad::apply(int)"), "AccumulateGrad");
  EXPECT_EQ(backward_function("torch::autograd::CppNode<mine::Scan<2>>::apply(int)"),
            "mine::Scan<2>");
  EXPECT_EQ(backward_function("torch::autograd::Engine::evaluate_function(int)"), "");
  EXPECT_EQ(backward_function("torch::autograd::Node::apply(int)"), "");
}

TEST(FrameKind, ANamespaceWithoutANameIsNoListOfArguments) {
  EXPECT_EQ(without_arguments("at::(anonymous namespace)::sum(int)"),
            "at::(anonymous namespace)::sum");
  EXPECT_EQ(without_arguments("(anonymous namespace)::sum(int)"), "(anonymous namespace)::sum");
}

}  // namespace
}  // namespace memreplay
