/** Exit codes that scripts may rely on (docs/guides/ci.md, "Scripts"). */
export const EX_FAILED = 1
export const EX_USAGE = 2
export const EX_AUTH = 3
export const EX_NOT_FOUND = 4
export const EX_REFUSED = 5
export const EX_NETWORK = 6
/** The configuration is wrong (sysexits.h). */
export const EX_CONFIG = 78
/** A program that cannot be executed, and a missing program, as in shells. */
export const EX_NOT_EXECUTABLE = 126
export const EX_NO_PROGRAM = 127
/** 128 and the number of SIGPIPE: the reader of the output has closed it, as in `| head`. */
export const EX_PIPE = 141
