/** Runs of random characters: they reveal the class and the number of the original characters. */
import {
  type Alphabet,
  alphabets,
  type RandomPart,
  type StandInPart,
  type StandInShape,
} from './shape.ts'

/** Secret parts with fewer characters, or easier to guess, are drawn longer: their length is not revealed. */
const MIN_LENGTH = 16
const MIN_BITS = 64
const LENGTHENED = 22

const names = Object.keys(alphabets) as Alphabet[]
/** For each ASCII character, a bit for each alphabet that has it. */
const alphabetsOf = Uint16Array.from({ length: 128 }, (_, code) =>
  names.reduce(
    (bits, name, at) =>
      alphabets[name].includes(String.fromCharCode(code)) ? bits | (1 << at) : bits,
    0,
  ),
)

/** One run of random characters, with the padding of base64. */
export function runOf(text: string): RandomPart {
  const [, run = '', padding = ''] = /^([A-Za-z0-9+/_-]+)(={1,2})$/.exec(text) ?? []
  if (run.length < MIN_LENGTH || text.length % 4 !== 0) return lengthenRun(text)
  const random = /[_-]/.test(run) ? 'base64url' : 'base64'
  return { random, length: run.length, padding: padding.length }
}

/** Returns a run without characters that are special in a URL. */
export function safeRunOf(text: string): RandomPart {
  const run = lengthenRun(text)
  return {
    ...run,
    random: run.random === 'text' || run.random === 'base64' ? 'base62' : run.random,
  }
}

function lengthenRun(text: string): RandomPart {
  const run = exactRunOf(text)
  const bits = run.length * Math.log2(alphabets[run.random].length)
  const isShort = run.length < MIN_LENGTH || bits < MIN_BITS
  return isShort ? { ...run, length: LENGTHENED } : run
}

/** The smallest alphabet with all characters, in one pass. */
export function exactRunOf(text: string): RandomPart {
  let [common, length] = [-1, 0]
  for (const character of text) {
    common &= alphabetsOf[character.codePointAt(0) ?? 0] ?? 0
    length += 1
  }
  const random = names.find((_, at) => common & (1 << at)) ?? 'text'
  return { random, length }
}

export function joinParts(parts: readonly StandInPart[][], separator: string): StandInPart[] {
  return parts.flatMap((part, at) => (at === 0 ? part : [{ text: separator }, ...part]))
}

/** Removes empty texts and joins adjacent ones. */
export function mergeParts(parts: readonly StandInPart[]): StandInShape {
  const shape: StandInPart[] = []
  for (const part of parts) {
    const last = shape.at(-1)
    if ('text' in part && last && 'text' in last) last.text += part.text
    else if (!('text' in part) || part.text !== '') shape.push({ ...part })
  }
  return shape
}
