# The tag of what C++ throws, which LLVM leaves to the one who links.
.globl __cpp_exception
.tagtype __cpp_exception i32
__cpp_exception:
