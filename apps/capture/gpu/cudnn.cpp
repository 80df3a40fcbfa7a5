#include "abi.hpp"
