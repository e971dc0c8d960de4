/**
 * Names of agents and tokens, which the audit and lists show beside people's addresses. A name that reads like an
 * address, or like another name in look-alike letters, would be mistaken for someone else.
 */
import type { z } from 'zod'

/** Also inside of a longer text: `Ada <ada@example.com>`. */
const ADDRESS = /[^\s@<]@[^\s@<>]+\.[^\s@<>.]/
const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]
/** Characters with another form that looks the same: letters, digits, marks, and full-width signs. */
const FORMS = /[\p{L}\p{M}\p{N}\uff00-\uffef]/gu

/** Returns the problem with an agent's name or a token's label, as the words after "must"; `null` for a valid name. */
export function objectionToActorName(name: string): string | null {
  if (ADDRESS.test(name.normalize('NFKC'))) return 'not look like an email address'
  if (SCRIPTS.filter((script) => script.test(name)).length > 1)
    return 'not mix Latin, Cyrillic and Greek letters'
  const forms = (name.match(FORMS) ?? []).join('')
  return forms === forms.normalize('NFKC') ? null : 'use plain letters and digits'
}

/** Applies `objectionToActorName` as a rule of a contract. */
export function demandActorName(name: string, context: z.RefinementCtx): void {
  const objection = objectionToActorName(name)
  if (objection !== null) context.addIssue({ code: 'custom', message: `must ${objection}` })
}
