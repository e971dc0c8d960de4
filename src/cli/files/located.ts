/** Names with values as a file has them, each with the number of its line. */
export type Located = { name: string; value: string; line: number }
/** The problem of a line, for people: never with its value. */
export type LineFault = { line: number; reason: string }
/** All values, or all faults. */
export type Reading = { found: Located[]; faults: LineFault[] }

/** A line without its line break, or the reason for a refusal, which follows the secret's name in the message. */
export type Written = { line: string } | { refusal: string }

export type DialectRules = {
  read(text: string): Reading
  write(name: string, value: string): Written
}
