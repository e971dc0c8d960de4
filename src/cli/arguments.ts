/** Forms of arguments, by the word in the usage. Invalid arguments are rejected before anything is asked or sent. */
import type { z } from 'zod'
import { roles } from '../core/grant.ts'
import { parseDomain } from '../core/net/domain.ts'
import { asOne } from '../core/printable.ts'
import { fieldFaults } from '../core/validation/complaints.ts'
import {
  email as address,
  buildNameSchema,
  environmentName,
  isUuid,
  projectName,
  secretKey,
} from '../core/validation/validate.ts'
import { findNearNames } from './named.ts'
import { CliError } from './terminal/cli_error.ts'

/** The problem with a text, and the remedy; null without a problem. */
type Form = (text: string) => readonly [message: string, hint: string] | null

const ASCII = /^[\x21-\x7e]+$/
/** Four letters of a fingerprint, as `whoami` groups them: a shell makes an argument of each group. */
const FINGERPRINT_GROUP = /^[a-z2-7]{4}$/i

const email: Form = (text) => {
  if (address.safeParse(text).success) return null
  if (FINGERPRINT_GROUP.test(text))
    return [
      `${text} is not an email address. Is it part of a fingerprint?`,
      'put the whole in quotes: --fingerprint "ada@example.com=FINGERPRINT"',
    ]
  const shown = asOne(text).slice(0, 100)
  return ASCII.test(text)
    ? [`${shown} is not an email address.`, 'give it in full: ada@example.com']
    : [`${shown} has characters that are not allowed in account addresses.`, 'use an ASCII address']
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

/** Environments that every project is shown with. */
export const USUAL_ENVIRONMENTS = ['development', 'staging', 'production'] as const

type Naming = { what: string; schema: z.ZodType; known?: readonly string[]; joint?: string }

/** The rule comes from the contract. `joint` turns the typed text into a valid name. */
function nameForm({ what, schema, known = [], joint = '-' }: Naming): Form {
  return (text) => {
    const checked = schema.safeParse(text)
    if (checked.success) return null
    const words = text.match(/[A-Za-z0-9]+/g)?.join(joint) ?? ''
    const fitting = joint === '_' ? words.replace(/^(?=\d)/, '_') : words.toLowerCase()
    const [near = fitting] = findNearNames(fitting, known)
    const meant = schema.safeParse(near).success ? `; did you mean ${near}?` : ''
    const [fault] = fieldFaults(checked.error.issues)
    return [
      `"${asOne(text).slice(0, 100)}" cannot be the name of ${what}.`,
      `it ${(fault?.message ?? '').replace(/^(?!must|is )/, 'is not usable: ')}${meant}`,
    ]
  }
}

const environment = nameForm({
  what: 'an environment',
  schema: environmentName,
  known: USUAL_ENVIRONMENTS,
})
const newProject = nameForm({ what: 'a project', schema: projectName })
const project: Form = (text) => (isUuid(text) ? null : newProject(text))
const secret = nameForm({ what: 'a secret', schema: secretKey, joint: '_' })
const secrets: Form = (text) =>
  text
    .split(',')
    .map(secret)
    .find((fault) => fault !== null) ?? null
/** Names of up to 100 characters that people choose freely. */
const MAX_TITLE = 100
const workspace = nameForm({ what: 'a workspace', schema: buildNameSchema(MAX_TITLE) })
const agent = nameForm({ what: 'an agent', schema: buildNameSchema(MAX_TITLE) })
const place: Form = (text) => {
  const [first = '', second, ...more] = text.split('/')
  if (second !== undefined && more.length === 0) return project(first) ?? environment(second)
  const shown = asOne(text).slice(0, 100)
  return [`"${shown}" is not a project and an environment.`, 'example: shared/production']
}

/** By the word in the usage, without brackets and dots. A member is also named by ID. */
export const forms: Readonly<Record<string, Form>> = {
  email,
  emails: email,
  member: (text) => (isUuid(text) ? null : email(text)),
  role,
  domains: domain,
  environment,
  from: environment,
  to: environment,
  project,
  key: secret,
  keys: secret,
  secret: secrets,
  workspace,
  agent,
  place,
  path: (text) => (text === '' ? ['The path is empty.', 'give the path of a file'] : null),
}

/** Paths for which `-` is standard input or output. Elsewhere a file of that name would be read or made. */
const STREAMS = new Set(['pull path', 'push path', '--from-file', '--in-file', '--out-file'])

function pathForm(place: string): Form | undefined {
  return (text) =>
    text === '-' && !STREAMS.has(place)
      ? ['- is not accepted here.', 'give a file; for a file named -, use ./-']
      : (forms.path?.(text) ?? null)
}

/** The meaning of `<name>` in a command's usage. */
export const namings = { environment, project: newProject, secret, workspace, agent } as const
export type NamedKind = keyof typeof namings

/** A command's options: flags in commander's syntax, a description, and the default value. */
export type Options = readonly (readonly [flags: string, about: string, fallback?: string])[]

type Line = { usage: string; names?: NamedKind | undefined; options: Options }
type Given = { args: readonly string[]; options: Readonly<Record<string, unknown>> }

/** @throws CliError `usage` for the first argument or option that cannot be meant */
export function checkArguments({ usage, names, options }: Line, given: Given): void {
  const [command, ...arguments_] = usage.split(' ')
  const words = arguments_.map(wordIn)
  for (const [at, text] of given.args.entries()) {
    const word = words[Math.min(at, words.length - 1)] ?? ''
    refuse(word === 'name' && names ? namings[names] : formOf(word, `${command} ${word}`), text)
  }
  for (const [flags] of options) {
    const { 1: flag = '', 2: word = '' } = /(--[a-z-]+) <([a-z]+)/.exec(flags) ?? []
    const { [attributeOf(flags)]: value } = given.options
    for (const text of [value].flat())
      if (typeof text === 'string') refuse(formOf(word, flag), text)
  }
}

const wordIn = (argument: string): string => argument.replace(/[^a-z]/g, '')

/** As commander names it: `--to-project <project>` is `toProject`. */
function attributeOf(flags: string): string {
  const { 1: name = '' } = /--([a-z-]+)/.exec(flags) ?? []
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function formOf(word: string, place: string): Form | undefined {
  return word === 'path' ? pathForm(place) : forms[word]
}

function refuse(form: Form | undefined, text: string): void {
  const fault = form?.(text)
  if (fault) throw new CliError('usage', fault[0], fault[1])
}

/** For lists of hosts separated by commas. */
export function faultOfDomain(text: string): ReturnType<Form> {
  return domain(text)
}

/** For settings of this name, wherever they come from. */
export function faultOfName(kind: 'environment' | 'project', text: string): ReturnType<Form> {
  return forms[kind]?.(text) ?? null
}
