#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "trace/snapshot/snapshot_checks.hpp"
#include "trace/snapshot/snapshot_words.hpp"

namespace memreplay {

/// A Python object as snapshot_conversion.hpp wants it. The caller keeps the root alive.
class PythonView {
 public:
  explicit PythonView(pybind11::handle object) : object_(object.ptr()) {}

  ValueKind kind() const {
    if (object_ == Py_None) return ValueKind::none;
    if (PyBool_Check(object_)) return ValueKind::boolean;
    if (PyLong_Check(object_)) return ValueKind::whole;
    if (PyFloat_Check(object_)) return ValueKind::real;
    if (PyUnicode_Check(object_)) return ValueKind::text;
    if (PyList_Check(object_) || PyTuple_Check(object_)) return ValueKind::list;
    return PyDict_Check(object_) ? ValueKind::dict : ValueKind::other;
  }

  bool boolean() const { return object_ == Py_True; }
  double real() const { return PyFloat_AsDouble(object_); }

  std::string text() const {
    Py_ssize_t size = 0;
    if (const char* text = PyUnicode_AsUTF8AndSize(object_, &size)) {
      return {text, static_cast<std::size_t>(size)};
    }
    PyErr_Clear();
    // Lone surrogates, as file names may have them.
    const auto bytes = pybind11::reinterpret_steal<pybind11::object>(
        PyUnicode_AsEncodedString(object_, "utf-8", "surrogatepass"));
    if (!bytes) throw pybind11::error_already_set();
    return pybind11::bytes(bytes);
  }

  WholeNumber whole() const {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object_, &overflow);
    if (overflow == 0) return WholeNumber::of(value);
    const unsigned long long above = PyLong_AsUnsignedLongLong(object_);
    if (PyErr_Occurred() == nullptr) return {above, false, false};
    PyErr_Clear();
    return {0, false, true};
  }

  std::size_t size() const { return static_cast<std::size_t>(PySequence_Fast_GET_SIZE(object_)); }
  PythonView item(std::size_t i) const {
    return PythonView(PySequence_Fast_GET_ITEM(object_, static_cast<Py_ssize_t>(i)));
  }
  std::optional<PythonView> find(std::string_view key) const {
    PyObject* found = PyDict_GetItemString(object_, std::string(key).c_str());
    return found == nullptr ? std::nullopt : std::optional(PythonView(found));
  }
  std::optional<PythonView> find(Word key) const {
    PyObject* found = PyDict_GetItemString(object_, text_of(key).data());
    return found == nullptr ? std::nullopt : std::optional(PythonView(found));
  }
  std::uintptr_t identity() const {
    return PyList_Check(object_) ? reinterpret_cast<std::uintptr_t>(object_) : 0;
  }

 private:
  PyObject* object_;
};

}  // namespace memreplay
