/** Names with values as a file has them, each with the number of its line. */
export type Located = { name: string; value: string; line: number }
/** What is wrong with a line, for people: never with its value. */
export type LineFault = { line: number; reason: string }
/** All values, or all faults. */
export type Reading = { found: Located[]; faults: LineFault[] }
