#pragma once

// What the program's own floor asks of a system and WASI has not: no signals come, no terminal has
// a size, no other program is begun.

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define O_TMPFILE 0
#define TIOCGWINSZ 0
#define SA_RESTART 0
#define SA_SIGINFO 0

struct winsize {
  unsigned short ws_row, ws_col;
};

struct siginfo_t {
  void* si_addr;
};

struct sigaction {
  void (*sa_handler)(int);
  void (*sa_sigaction)(int, siginfo_t*, void*);
  int sa_flags;
};

inline int sigaction(int, const struct sigaction*, struct sigaction*) { return 0; }
inline int execv(const char*, char* const*) { return -1; }
