/**
 * Prepares foreign text for a terminal or a model: names by other people, and sentences by servers. The result cannot
 * control the terminal, change the reading order, or contain invisible characters.
 */

/**
 * Control characters, unusual line breaks, characters that change the order of letters, and characters without width:
 * zero width, fillers, tags, selectors. Joiners between several emoji of one picture stay.
 */
const UNSEEN =
  /[[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]--[\u200D\uFE0E\uFE0F]]|(?<!\p{Emoji})[\uFE0E\uFE0F]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}]\uFE0F?)\u200D|\u200D(?!\p{Extended_Pictographic})/gv

export function printable(text: string): string {
  return text.replace(UNSEEN, '?')
}

/** Returns a sentence as one line. Line breaks in a name cannot imitate a line of the program. */
export function asOne(text: string): string {
  return text.replace(/\n+(?=\S)/g, '\n  ')
}

/** Like the above, for a text that may contain lines and tabs. */
export function printableLines(text: string): string {
  return text.replace(/[^\n\t]+/g, printable)
}

/**
 * Text from elsewhere for a person's screen, by lines. A line may end in CRLF. `isWhole` is false where characters were
 * replaced.
 */
export function onScreen(text: string): { shown: string; isWhole: boolean } {
  const lines = text.replace(/\r(?=\n|$)/g, '')
  const shown = printableLines(lines)
  return { shown, isWhole: shown === lines }
}

/** The problems that prevent a start or a command, one per line. They may contain names from the database. */
export function complaints(problems: readonly string[]): string {
  return problems.map((problem) => `cloakroom: ${printable(problem)}\n`).join('')
}

/** Returns JSON with escapes in place of such characters, which parses to the original data. */
export function printableJson(data: unknown, indent?: number): string {
  return JSON.stringify(data, null, indent).replace(UNSEEN, (found) =>
    found === '\n' ? found : escapeText(found),
  )
}

function escapeText(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
