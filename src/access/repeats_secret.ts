/** Characters of a token's secret part that no text has by chance. */
const PART = 16

/** Whether a text for people holds a part of a token's secret, also with blanks or other marks in it. */
export function repeatsSecret(text: string, secretText: string): boolean {
  const letters = text.replace(/[^0-9A-Za-z]/g, '')
  for (let at = 0; at + PART <= secretText.length; at += 1)
    if (letters.includes(secretText.slice(at, at + PART))) return true
  return false
}
