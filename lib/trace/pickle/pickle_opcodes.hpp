#pragma once

#include <string_view>

namespace memreplay {

/// The opcodes of pickle protocols 0 to 5, by their names in Python's pickletools.
enum class PickleOp : unsigned char {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  float_text = 'F',
  int_text = 'I',
  binint = 'J',
  binint1 = 'K',
  long_text = 'L',
  binint2 = 'M',
  none = 'N',
  persid = 'P',
  binpersid = 'Q',
  reduce = 'R',
  string = 'S',
  binstring = 'T',
  short_binstring = 'U',
  unicode = 'V',
  binunicode = 'X',
  append = 'a',
  build = 'b',
  global = 'c',
  dict = 'd',
  empty_dict = '}',
  appends = 'e',
  get = 'g',
  binget = 'h',
  inst = 'i',
  long_binget = 'j',
  list = 'l',
  empty_list = ']',
  obj = 'o',
  put = 'p',
  binput = 'q',
  long_binput = 'r',
  setitem = 's',
  tuple = 't',
  empty_tuple = ')',
  setitems = 'u',
  binfloat = 'G',
  binbytes = 'B',
  short_binbytes = 'C',
  proto = 0x80,
  newobj = 0x81,
  ext1 = 0x82,
  ext2 = 0x83,
  ext4 = 0x84,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  newtrue = 0x88,
  newfalse = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes8 = 0x8e,
  empty_set = 0x8f,
  additems = 0x90,
  frozenset = 0x91,
  newobj_ex = 0x92,
  stack_global = 0x93,
  memoize = 0x94,
  frame = 0x95,
  bytearray8 = 0x96,
  next_buffer = 0x97,
  readonly_buffer = 0x98,
};

constexpr std::string_view name_of(PickleOp op) {
  using enum PickleOp;
  switch (op) {
    case mark:
      return "MARK";
    case stop:
      return "STOP";
    case pop:
      return "POP";
    case pop_mark:
      return "POP_MARK";
    case dup:
      return "DUP";
    case float_text:
      return "FLOAT";
    case int_text:
      return "INT";
    case binint:
      return "BININT";
    case binint1:
      return "BININT1";
    case long_text:
      return "LONG";
    case binint2:
      return "BININT2";
    case none:
      return "NONE";
    case persid:
      return "PERSID";
    case binpersid:
      return "BINPERSID";
    case reduce:
      return "REDUCE";
    case string:
      return "STRING";
    case binstring:
      return "BINSTRING";
    case short_binstring:
      return "SHORT_BINSTRING";
    case unicode:
      return "UNICODE";
    case binunicode:
      return "BINUNICODE";
    case append:
      return "APPEND";
    case build:
      return "BUILD";
    case global:
      return "GLOBAL";
    case dict:
      return "DICT";
    case empty_dict:
      return "EMPTY_DICT";
    case appends:
      return "APPENDS";
    case get:
      return "GET";
    case binget:
      return "BINGET";
    case inst:
      return "INST";
    case long_binget:
      return "LONG_BINGET";
    case list:
      return "LIST";
    case empty_list:
      return "EMPTY_LIST";
    case obj:
      return "OBJ";
    case put:
      return "PUT";
    case binput:
      return "BINPUT";
    case long_binput:
      return "LONG_BINPUT";
    case setitem:
      return "SETITEM";
    case tuple:
      return "TUPLE";
    case empty_tuple:
      return "EMPTY_TUPLE";
    case setitems:
      return "SETITEMS";
    case binfloat:
      return "BINFLOAT";
    case binbytes:
      return "BINBYTES";
    case short_binbytes:
      return "SHORT_BINBYTES";
    case proto:
      return "PROTO";
    case newobj:
      return "NEWOBJ";
    case ext1:
      return "EXT1";
    case ext2:
      return "EXT2";
    case ext4:
      return "EXT4";
    case tuple1:
      return "TUPLE1";
    case tuple2:
      return "TUPLE2";
    case tuple3:
      return "TUPLE3";
    case newtrue:
      return "NEWTRUE";
    case newfalse:
      return "NEWFALSE";
    case long1:
      return "LONG1";
    case long4:
      return "LONG4";
    case short_binunicode:
      return "SHORT_BINUNICODE";
    case binunicode8:
      return "BINUNICODE8";
    case binbytes8:
      return "BINBYTES8";
    case empty_set:
      return "EMPTY_SET";
    case additems:
      return "ADDITEMS";
    case frozenset:
      return "FROZENSET";
    case newobj_ex:
      return "NEWOBJ_EX";
    case stack_global:
      return "STACK_GLOBAL";
    case memoize:
      return "MEMOIZE";
    case frame:
      return "FRAME";
    case bytearray8:
      return "BYTEARRAY8";
    case next_buffer:
      return "NEXT_BUFFER";
    case readonly_buffer:
      return "READONLY_BUFFER";
  }
  return {};
}

}  // namespace memreplay
