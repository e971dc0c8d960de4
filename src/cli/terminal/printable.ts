/** Text from elsewhere on a terminal: names come from other people, and sentences from servers. */

/** Without what would drive the terminal, or make a line read in another order than it is written. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '?')
}

/** The same of a text with lines and tabs of its own. */
export function printableLines(text: string): string {
  return text.replace(/[^\n\t]+/g, printable)
}
