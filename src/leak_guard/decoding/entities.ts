/**
 * Named HTML character references for ASCII punctuation and Latin-1 (HTML standard, section 13.5):
 * what escaping libraries write. Other names stand for characters that no credential is likely to hold.
 */

/** A character, then its names. */
const ASCII = [
  ['\t', 'Tab'],
  ['\n', 'NewLine'],
  ['!', 'excl'],
  ['"', 'quot QUOT'],
  ['#', 'num'],
  ['$', 'dollar'],
  ['%', 'percnt'],
  ['&', 'amp AMP'],
  ["'", 'apos'],
  ['(', 'lpar'],
  [')', 'rpar'],
  ['*', 'ast midast'],
  ['+', 'plus'],
  [',', 'comma'],
  ['.', 'period'],
  ['/', 'sol'],
  [':', 'colon'],
  [';', 'semi'],
  ['<', 'lt LT'],
  ['=', 'equals'],
  ['>', 'gt GT'],
  ['?', 'quest'],
  ['@', 'commat'],
  ['[', 'lsqb lbrack'],
  ['\\', 'bsol'],
  [']', 'rsqb rbrack'],
  ['^', 'Hat'],
  ['_', 'lowbar UnderBar'],
  ['`', 'grave DiacriticalGrave'],
  ['{', 'lcub lbrace'],
  ['|', 'verbar vert VerticalLine'],
  ['}', 'rcub rbrace'],
] as const

/** U+00A0 to U+00FF in order. */
const LATIN_1 = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr
  deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest
  Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc
  Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute
  THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave
  iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc
  uuml yacute thorn yuml`

const latin1 = LATIN_1.split(/\s+/).map((name, index): [string, number] => [name, 0xa0 + index])
const ascii = ASCII.flatMap(([character, names]) =>
  names.split(' ').map((name): [string, number] => [name, character.charCodeAt(0)]),
)

/** Code points by name, without `&` and `;`. */
export const ENTITIES: ReadonlyMap<string, number> = new Map([...ascii, ...latin1])

/** The names that HTML reads also where the semicolon is missing. */
export const LOOSE_ENTITIES: ReadonlyMap<string, number> = new Map([
  ...ascii.filter(([name]) => /^(amp|lt|gt|quot)$/i.test(name)),
  ...latin1,
])

/** The longest of these. */
export const MAX_LOOSE = 6

/** The longest name. */
export const MAX_ENTITY = 16

/** Whether some name begins with two letters: most of what follows an ampersand is no name. */
export function mayName(first: number, second: number): boolean {
  return BEGINNINGS.has((first << 8) | second)
}

const BEGINNINGS = new Set(
  ENTITIES.keys().map((name) => (name.charCodeAt(0) << 8) | name.charCodeAt(1)),
)
