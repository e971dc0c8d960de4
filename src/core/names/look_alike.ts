/**
 * Names that people mistake for each other have one skeleton, as in Unicode Technical Standard 39, for the characters that
 * appear in ordinary names. Skeletons are compared and never shown or stored.
 */
import { appearance } from './appearance.ts'

/** Letters of other scripts, in the order of the Latin ones that they look like in lower or upper case. */
const OTHERS = 'авекмнорстухіјѕһԁԛԝαβεικνορτυχıɑɡ'
const LATIN = 'abekmhopctyxijshdqwabeikvoptuxiag'
const LATIN_OF = new Map([...OTHERS].map((letter, index) => [letter, LATIN.charAt(index)]))

const FOLDS: readonly [looks: RegExp, as: string][] = [
  [/rn/g, 'm'],
  [/vv/g, 'w'],
  [/0/g, 'o'],
  [/[1i|]/g, 'l'],
  [/[_.]|\p{Pd}/gu, '-'],
]

export function skeletonOf(name: string): string {
  const lower = appearance(name).toLowerCase()
  const latin = [...lower].map((letter) => LATIN_OF.get(letter) ?? letter).join('')
  return FOLDS.reduce((text, [looks, as]) => text.replace(looks, as), latin)
}
