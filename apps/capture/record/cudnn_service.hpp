#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>

namespace memreplay {

/// Answers the questions of a recorded program's processes about graphs of cuDNN, by the library
/// itself in a process of its own, see answer_graphs: one for all of them, and each question is
/// asked once. A process asks at a socket whose name stands in the environment; a line of a
/// question is the folder of the library beside that process's torch, a tabulator, and what
/// answer_graphs takes.
class CudnnService {
 public:
  /// `program` is memreplay. `folder`: where the library is, whatever lies beside torch; empty:
  /// beside torch. Throws UsageError where it is no folder of cuDNN's.
  CudnnService(std::string program, std::string folder);
  ~CudnnService();
  CudnnService(const CudnnService&) = delete;
  CudnnService& operator=(const CudnnService&) = delete;

  /// The name of its socket, an abstract one; empty: there is none.
  const std::string& name() const { return name_; }

 private:
  class Library;
  class Lines;

  void serve();
  std::string answer(const std::string& question);

  std::string program_;
  std::string folder_;
  std::string name_;
  int socket_ = -1;
  int stop_ = -1;  ///< closed: the thread ends
  int stopped_ = -1;
  std::map<std::string, std::string> answers_;
  std::map<std::string, std::unique_ptr<Library>> libraries_;  ///< by folder
  std::thread thread_;
};

}  // namespace memreplay
