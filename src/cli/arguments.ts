/** Forms of arguments, by the word in the usage: what cannot be meant is refused before anything is asked or sent. */
import { roles } from '../platform/grant.ts'
import { email as address, isUuid } from '../platform/http/validate.ts'
import { parseDomain } from '../platform/net/domain.ts'
import { asOne } from '../platform/printable.ts'
import { CliError } from './terminal/cli_error.ts'

/** What is wrong with a text, and what to do; null where nothing is. */
type Form = (text: string) => readonly [message: string, hint: string] | null

const ASCII = /^[\x21-\x7e]+$/

const email: Form = (text) => {
  if (address.safeParse(text).success) return null
  const shown = asOne(text).slice(0, 100)
  return ASCII.test(text)
    ? [`${shown} is not an email address.`, 'give it in full: ada@example.com']
    : [`${shown} has characters that addresses of accounts cannot have.`, 'use an address in ASCII']
}

const domain: Form = (text) => {
  if (parseDomain(text) !== null) return null
  const host = URL.parse(text)?.host
  return host
    ? [`${asOne(text).slice(0, 200)} is a URL.`, `give the host: ${host}`]
    : [
        `${asOne(text).slice(0, 200)} is not a host name.`,
        'give a host: api.stripe.com, *.example.com or api.example.com:8443',
      ]
}

const role: Form = (text) =>
  roles.some((known) => known === text)
    ? null
    : [`${asOne(text).slice(0, 100)} is not a role.`, `use one of ${roles.join(', ')}`]

/** By the word in the usage, without brackets and dots. A member is also named by ID. */
export const forms: Readonly<Record<string, Form>> = {
  email,
  emails: email,
  member: (text) => (isUuid(text) ? null : email(text)),
  role,
  domains: domain,
}

/** @throws CliError `usage` for the first argument that cannot be meant */
export function checkArguments(usage: string, given: readonly string[]): void {
  const words = usage.split(' ').slice(1)
  for (const [at, text] of given.entries()) {
    const word = words[Math.min(at, words.length - 1)] ?? ''
    const fault = forms[word.replace(/[^a-z]/g, '')]?.(text)
    if (fault) throw new CliError('usage', fault[0], fault[1])
  }
}
