/**
 * The stand-ins of one run (docs/guides/proxy.md): a text of the same shape for each credential that the caller may
 * use. They are generated when the proxy starts, known only to it, and useless without it.
 */

import { randomInt } from 'node:crypto'
import { placeholderOf } from '../../core/names/secret_name.ts'
import { changeNested, isJson } from '../../outbound/injection/nested_text.ts'
import { drawStandIn } from '../../outbound/stand_ins/make.ts'
import { alphabets } from '../../outbound/stand_ins/shape.ts'
import type { ProxyCredential } from '../backend.ts'
import { Signers } from './signed.ts'

export type StandIn = {
  name: string
  text: string
  /** The text's longest run of letters and digits, which clients write unchanged everywhere. */
  core: string
  /** Locations besides headers where the value is allowed, as for its placeholders. */
  locations: ReadonlySet<string>
}

/** A stand-in's spelling in some place. */
export type StandInForm = 'exact' | 'escaped' | 'json'

const patternOf: Record<StandInForm, (text: string) => string> = {
  exact: RegExp.escape,
  escaped: buildEscapedPattern,
  json: jsonPattern,
}

const MARK_CHARACTERS = 24

export class StandIns {
  /** The word with which the backend marks found values. */
  readonly mark = `~${Array.from({ length: MARK_CHARACTERS }, drawCharacter).join('')}~`
  readonly #byName: ReadonlyMap<string, StandIn>
  readonly #patterns = new Map<string, RegExp>()
  readonly signers: Signers

  private constructor(all: readonly StandIn[]) {
    this.#byName = new Map(all.map((standIn) => [standIn.name, standIn]))
    this.signers = new Signers(all)
  }

  /**
   * Draws stand-ins for credentials with a shape. Each has at least 64 random bits, so that none equals another text.
   */
  static async draw(credentials: readonly ProxyCredential[]): Promise<StandIns> {
    const drawn = credentials.map(async ({ name, locations, shape }): Promise<StandIn[]> => {
      if (!shape) return []
      const { text, parts } = await drawStandIn(shape)
      const standIn = (named: string, drawn: string): StandIn => {
        const places = new Set<string>(locations ?? [])
        return { name: named, text: drawn, core: coreOf(drawn), locations: places }
      }
      // The whole value takes precedence over its parts.
      const ofParts = parts.map((part) => standIn(`${name}__${part.name}`, part.text))
      return [standIn(name, text), ...ofParts]
    })
    return new StandIns((await Promise.all(drawn)).flat())
  }

  get all(): StandIn[] {
    return [...this.#byName.values()]
  }

  of(name: string): StandIn | undefined {
    return this.#byName.get(name)
  }

  /**
   * Replaces each stand-in in the text by a placeholder. A stand-in before letters, digits or `_` stays: they would be
   * read as part of the name.
   */
  replaceAll(text: string, form: StandInForm, standIns: readonly StandIn[] = this.all): string {
    let replaced = text
    for (const standIn of standIns) {
      // Hardly any text has one, and most have hundreds of them sought.
      if (!text.includes(standIn.core)) continue
      replaced = replaced.replace(this.#patternOf(standIn, form), placeholderOf(standIn.name))
    }
    return replaced
  }

  /** Replaces stand-ins in text nested in JSON and forms, each at its depth. */
  replaceNested(text: string, form: StandInForm, standIns: readonly StandIn[]): string {
    if (form === 'exact' || (form === 'json' && !isJson(text))) {
      return this.replaceAll(text, form, standIns)
    }
    return changeNested(form === 'json' ? 'json' : 'form', text, {
      isSought: (part) => standIns.some(({ core }) => part.includes(core)),
      change: ({ syntax, raw }) =>
        this.replaceAll(raw, syntax === 'json' ? 'json' : 'escaped', standIns),
    })
  }

  #patternOf({ name, text }: StandIn, form: StandInForm): RegExp {
    const key = `${form} ${name}`
    const known = this.#patterns.get(key)
    if (known) return known
    const pattern = new RegExp(`${patternOf[form](text)}(?![A-Za-z0-9_])`, 'g')
    this.#patterns.set(key, pattern)
    return pattern
  }
}

function drawCharacter(): string {
  return alphabets.base62[randomInt(alphabets.base62.length)] ?? ''
}

function coreOf(text: string): string {
  const runs = text.match(/[A-Za-z0-9]+/g) ?? []
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '')
}

/** Returns a pattern for RFC 3986, section 2.1, and forms, where `+` is a space. Escapes are optional. */
function buildEscapedPattern(text: string): string {
  return writeEachByte(text, (byte, character) => {
    if (/[A-Za-z0-9]/.test(character)) return character
    const escaped = `%${matchAnyCase(byte.toString(16).padStart(2, '0'))}`
    if (byte > 0x7e || byte < 0x21) return byte === 0x20 ? `(?:\\+|${escaped})` : escaped
    return `(?:${RegExp.escape(character)}|${escaped})`
  })
}

/** RFC 8259, section 7. */
function jsonPattern(text: string): string {
  const buildInnerPattern = (character: string) => JSON.stringify(character).slice(1, -1)
  return [...text]
    .map((character) => {
      if (/[A-Za-z0-9]/.test(character)) return character
      const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      const escaped = units
        .map((unit) => `\\\\u${matchAnyCase(unit.toString(16).padStart(4, '0'))}`)
        .join('')
      const others = character === '/' ? '|\\\\/' : ''
      return `(?:${RegExp.escape(buildInnerPattern(character))}|${escaped}${others})`
    })
    .join('')
}

function writeEachByte(text: string, write: (byte: number, character: string) => string): string {
  return [...Buffer.from(text)].map((byte) => write(byte, String.fromCharCode(byte))).join('')
}

function matchAnyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}
