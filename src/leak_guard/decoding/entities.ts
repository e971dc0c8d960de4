/**
 * Named HTML character references for ASCII punctuation and Latin-1 (HTML standard, section 13.5), as escaping
 * libraries write them. Other names are for characters that credentials hardly contain.
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
const ENTITIES: ReadonlyMap<string, number> = new Map([...ascii, ...latin1])

/** The names that HTML also reads without a semicolon. */
const LOOSE_ENTITIES: ReadonlyMap<string, number> = new Map([
  ...ascii.filter(([name]) => /^(amp|lt|gt|quot)$/i.test(name)),
  ...latin1,
])

/** The longest name. */
export const MAX_ENTITY = 16

/**
 * Names as a tree of their letters, starting at node 0. A name is looked up while its letters are read, without a copy
 * of its text.
 */
const LETTERS = 128
const ROOT = 0

class NameTree {
  /** The next node by node and letter; 0 if no name continues. */
  readonly #next: Uint16Array
  /** By node, the code point of the name that ends there, plus one; 0 if no name ends there. */
  readonly #codes: Uint16Array
  #nodes = 1

  constructor(names: ReadonlyMap<string, number>) {
    const most = names.keys().reduce((sum, name) => sum + name.length, 1)
    this.#next = new Uint16Array(LETTERS * most)
    this.#codes = new Uint16Array(most)
    for (const [name, code] of names) {
      let node = ROOT
      for (const letter of name) {
        const at = LETTERS * node + letter.charCodeAt(0)
        node = this.#next[at] || this.#nodes++
        this.#next[at] = node
      }
      this.#codes[node] = code + 1
    }
  }

  /** The longest name that the bytes begin with: its length times 2^16 and its code point; 0 for none. */
  findLongestName(bytes: Uint8Array, from: number, end: number): number {
    let node = ROOT
    let found = 0
    for (let at = from; at < end; at++) {
      const byte = bytes[at] ?? 0
      node = byte < LETTERS ? (this.#next[LETTERS * node + byte] ?? 0) : 0
      if (node === ROOT) break
      const code = this.#codes[node] ?? 0
      if (code !== 0) found = ((at + 1 - from) << 16) | (code - 1)
    }
    return found
  }
}

export const ENTITY_TREE = new NameTree(ENTITIES)
export const LOOSE_TREE = new NameTree(LOOSE_ENTITIES)
