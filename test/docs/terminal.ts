/** Types lines of the documents into a real terminal, on a machine that knows only what was typed there before. */
import { expect } from 'bun:test'
import { dirname } from 'node:path'
import { executable } from '../binary/executable.ts'
import { PASSWORD, type Terminal } from '../cli/person.ts'
import { typing } from '../cli/pseudo_terminal.ts'
import { PASSPHRASE } from './typing.ts'

/** Typed texts by the question that they answer, in the order of the questions. */
export type Answers = Record<string, string>

export const YES: Answers = { '(y/N)': 'y' }
export const NEW_PASSWORD: Answers = { 'Choose a password': PASSWORD, 'Repeat it': PASSWORD }
export const NEXT_PASSWORD = 'another passphrase for a new start'

/** The answers of a person who changes the password. */
export function changing(from: string, to: string): Answers {
  return { 'Current password': from, 'New password': to, 'Repeat it': to }
}

/** Returns the screen. @throws Error unless the line ends with the code */
export async function typeAt(
  { cwd, home }: Terminal,
  line: string,
  answers: Answers = {},
  { code = 0, env = PASSPHRASE }: { code?: number; env?: Record<string, string> } = {},
): Promise<string> {
  const PATH = `${dirname(await executable())}:${process.env.PATH}`
  const shown = await typing(['bash', '-c', line], {
    cwd,
    env: { PATH, HOME: home, XDG_RUNTIME_DIR: home, ...env },
    typed: Object.entries(answers).map(([when, text]) => ({ when, type: `${text}\r` })),
  })
  const screen = Bun.stripANSI(shown.screen).replaceAll('\r\n', '\n')
  expect({ line, code: shown.code, screen }).toEqual({ line, code, screen })
  return screen
}

/** Types lines that have to succeed, each with its answers. Returns the screens. */
export async function typeAll(
  person: Terminal,
  lines: readonly string[],
  answers: readonly Answers[] = [],
): Promise<string[]> {
  const screens: string[] = []
  for (const [at, line] of lines.entries()) screens.push(await typeAt(person, line, answers[at]))
  return screens
}

export async function fingerprintOf(person: Terminal): Promise<string> {
  return ((await person.json('whoami')) as { fingerprint: string }).fingerprint
}

/** An admin invites a person to acme, who accepts and has the fingerprint compared. */
export async function addMember(admin: Terminal, person: Terminal, email: string, role: string) {
  const invited = ['--role', role, '--fingerprint', await fingerprintOf(person)]
  await admin.must('workspace', 'invite', email, '-w', 'acme', ...invited)
  await person.must('workspace', 'accept', 'acme')
}
