/** Exit codes that scripts may rely on. */
export const EX_USAGE = 2
/** sysexits.h: the configuration is wrong. */
export const EX_CONFIG = 78
